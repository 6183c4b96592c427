import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { BlockError, type BlockNode, type Located, type Location } from '@blockyard/core';
import { identityOf } from './identity.ts';
import { filenameOf } from './name.ts';
import { codeOf } from './system-codes.ts';

/**
 * Real directory and identity of a file that exists. Not through a link that somebody puts in the place of the real
 * path meanwhile: what is opened later is compared with this identity.
 */
export async function locationOf(absolute: string): Promise<Location> {
  const real = await realpath(absolute);
  return { directory: dirname(real), identity: identityOf(await lstat(real, { bigint: true })) };
}

/** What `name`, found in the image that `from` holds, leads to; relative names start at the directory of that image. */
export async function locate(
  name: string,
  from: BlockNode,
  baseOf: (node: BlockNode) => string | undefined,
): Promise<Located> {
  const filename = filenameOf(name);
  const base = baseOf(from);
  if (!isAbsolute(filename) && base === undefined) {
    const text = `open ${from.path}: it names the file '${name}', and there is no directory that a relative name could start from; give the chain explicitly`;
    throw new BlockError('ENOENT', text, { op: 'open', driver: 'file', path: name });
  }
  const path = isAbsolute(filename) ? filename : join(base as string, filename);
  try {
    return { options: { driver: 'file', filename: path }, location: await locationOf(path) };
  } catch (error) {
    const code = codeOf(error) ?? 'EIO';
    const what = code === 'ENOENT' ? 'which does not exist' : `which cannot be reached (${code})`;
    const text = `open ${from.path}: it names the file '${name}' (${path}), ${what}; put it there, or give the chain explicitly`;
    throw new BlockError(code, text, { op: 'open', driver: 'file', path, cause: error });
  }
}
