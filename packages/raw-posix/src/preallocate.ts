import fs from 'node:fs';
import { BlockError } from '@blockyard/core';
import type { Host, HostFile } from './host.ts';
import { isUnsupported } from './system-codes.ts';
import { writeRest } from './transfer.ts';

const pieceBytes = 1 << 20;

export interface Resize {
  readonly host: Host;
  readonly file: HostFile;
  /** To open it a second time. */
  readonly path: string;
  readonly direct: boolean;
  readonly from: number;
  readonly to: number;
  readonly preallocation: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws BlockError ERR_NOT_SUPPORTED for what only formats have. */
export function checkPreallocation(preallocation: string, path: string): void {
  if (['off', 'falloc', 'full'].includes(preallocation)) return;
  const text = `${path}: preallocation '${preallocation}' is not for plain files; there are 'off', 'falloc' and 'full'`;
  throw new BlockError('ERR_NOT_SUPPORTED', text, { driver: 'file', op: 'truncate', path });
}

/** Gives a regular file its new size, and the new bytes their space. On failure it has its old size again. */
export async function resize(work: Resize): Promise<void> {
  const { file, from, to, preallocation = 'off' } = work;
  checkPreallocation(preallocation, work.path);
  if (to <= from || preallocation === 'off') return await file.truncate(to);
  try {
    if (preallocation === 'full' || !(await allocate(file, from, to))) await writeZeroBytes(work);
  } catch (error) {
    await file.truncate(from);
    throw error;
  }
}

async function allocate({ calls, fd }: HostFile, from: number, to: number): Promise<boolean> {
  try {
    await calls?.fallocate(fd, 'allocate', from, to - from);
    return calls !== undefined;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    return false;
  }
}

/** Any offset will do for a buffered descriptor, so direct files are opened once more. */
async function writeZeroBytes(work: Resize): Promise<void> {
  const { host, file, direct, from, to, signal } = work;
  const path = process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : work.path;
  const buffered = direct
    ? await host.open(path, fs.constants.O_WRONLY, { aio: 'threads', direct: false })
    : file;
  try {
    const zeroes = new Uint8Array(Math.min(pieceBytes, to - from));
    for (let at = from; at < to; at += zeroes.byteLength) {
      await writeRest(buffered, at, zeroes.subarray(0, Math.min(zeroes.byteLength, to - at)), 0, signal);
    }
    // With delayed allocation a full disk shows only now.
    await buffered.sync(false);
  } finally {
    if (buffered !== file) await buffered.close();
  }
}
