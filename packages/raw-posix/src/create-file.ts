import fs from 'node:fs';
import { unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Host, HostFile } from './host.ts';
import { takeLocks } from './locks.ts';
import { openError, openRefusal } from './open-errors.ts';
import type { FileOptions } from './options.ts';
import { checkPreallocation, resize } from './preallocate.ts';
import { codeOf } from './system-codes.ts';

export interface Creation {
  readonly size: number;
  readonly exclusive?: boolean;
  readonly preallocation?: string;
}

/**
 * Makes the file, or empties it: a file that somebody uses is refused, untouched. Of a block device only the size is
 * checked. What could not be finished is removed again where it was new.
 */
export async function createFile(host: Host, options: FileOptions, creation: Creation): Promise<void> {
  const { filename, locking = 'auto' } = options;
  checkPreallocation(creation.preallocation ?? 'off', filename);
  const { file, created } = await openNew(host, filename, creation.exclusive ?? false);
  try {
    await takeLocks({
      file,
      path: filename,
      locking: host.hasCalls ? locking : 'off',
      readOnly: false,
      forceShare: false,
    });
    await shape(host, file, filename, creation);
  } catch (error) {
    await file.close();
    if (created) await unlink(filename);
    throw openError(error, filename, false, false);
  }
  await file.close();
}

async function openNew(
  host: Host,
  filename: string,
  exclusive: boolean,
): Promise<{ file: HostFile; created: boolean }> {
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const settings = { aio: 'threads', direct: false, mode: 0o644 } as const;
  try {
    return { file: await host.open(filename, O_RDWR | O_CREAT | O_EXCL, settings), created: true };
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw openError(error, filename, false, false);
    if (exclusive) {
      throw openRefusal(
        'ERR_TARGET_EXISTS',
        filename,
        'it exists already; choose another name, or allow to overwrite it',
      );
    }
  }
  try {
    // Created here only where it was removed a moment ago, or where a link leads to nothing yet.
    return { file: await host.open(filename, O_RDWR | O_CREAT, settings), created: false };
  } catch (error) {
    throw openError(error, filename, false, false);
  }
}

async function shape(
  host: Host,
  file: HostFile,
  filename: string,
  { size, preallocation }: Creation,
): Promise<void> {
  const status = await file.status();
  if (status.kind === 'block') {
    const device = await file.blockDevice();
    if (device.size >= size) return;
    throw openRefusal(
      'ENOSPC',
      filename,
      `${size} bytes do not fit on a device of ${device.size} bytes; use a larger one`,
    );
  }
  if (status.kind !== 'file')
    throw openRefusal('ERR_NOT_SUPPORTED', filename, 'it is there, and is no file or block device');
  await file.truncate(0);
  await resize({ host, file, path: resolve(filename), direct: false, from: 0, to: size, preallocation });
}
