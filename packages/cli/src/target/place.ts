import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BlockError } from '@blockyard/core';

export interface PlaceFlags {
  /** -n: the target exists and is written to as it is. */
  noCreate: boolean;
  overwrite: boolean;
}

/** What stands at the target's name, and what is to be done with it. */
export type Place =
  /** Made under a temporary name, and renamed when it is whole. `mode`: of the file that it replaces. */
  | { kind: 'new'; path: string; mode: number | undefined }
  /** Written in place: a device, or with -n a file. */
  | { kind: 'in-place'; path: string; what: 'file' | 'block device' };

/** @throws BlockError when the target must not be touched. */
export async function findPlace(path: string, flags: PlaceFlags): Promise<Place> {
  if (['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'].includes(path))
    throw refuse('ERR_NOT_SUPPORTED', path, "say '-' to write to standard output");
  const found = await statOf(path);
  if (!found) {
    if (/[/]$/.test(path))
      throw refuse('ENOENT', path, 'it is the name of a directory, and there is none; name a file');
    if (flags.noCreate)
      throw refuse(
        'ENOENT',
        path,
        'there is no such file, and with -n none is made; leave out -n, or check the name',
      );
    if (await isLink(path))
      throw refuse(
        'ENOENT',
        path,
        'it is a symbolic link that leads to nothing; remove it, or make what it leads to',
      );
    await checkDirectory(path);
    return { kind: 'new', path, mode: undefined };
  }
  if (found.isDirectory()) throw refuse('EISDIR', path, 'it is a directory; name a file in it');
  if (found.isBlockDevice()) {
    if (flags.noCreate || flags.overwrite) return { kind: 'in-place', path, what: 'block device' };
    throw refuse(
      'ERR_TARGET_EXISTS',
      path,
      'it is a block device, and what is on it would be lost; say --overwrite if that is meant',
    );
  }
  if (!found.isFile()) {
    throw refuse(
      'ERR_NOT_SUPPORTED',
      path,
      "it is no regular file or block device; use '-' to write to a stream",
    );
  }
  if (flags.noCreate) return { kind: 'in-place', path, what: 'file' };
  if (!flags.overwrite)
    throw refuse(
      'ERR_TARGET_EXISTS',
      path,
      'it exists already; choose another name, or say --overwrite to replace it',
    );
  // What a link leads to is replaced, not the link.
  return { kind: 'new', path: await realpath(path), mode: found.mode & 0o7777 };
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw refuse(code ?? 'EIO', path, code === 'ENOTDIR' ? notDirectory : message);
  }
}

const notDirectory = 'what should be its directory is none; check the name (ENOTDIR)';

/** Before the source is read: where the target cannot be made is better said at once. */
async function checkDirectory(path: string): Promise<void> {
  const directory = await statOf(dirname(path));
  if (!directory)
    throw refuse('ENOENT', path, 'its directory does not exist; make it first, or check the name (ENOENT)');
  if (!directory.isDirectory()) throw refuse('ENOTDIR', path, notDirectory);
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

function refuse(code: string, path: string, why: string): BlockError {
  return new BlockError(code, `write to ${path}: ${why}`, { op: 'create', path });
}
