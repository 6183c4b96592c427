import { readFileSync } from 'node:fs';
import { binding } from './binding.ts';

/** Of the room that is left, one slab takes no more than this part: the rest is V8's and the threads'. */
const PART = 16;

let limit: number | undefined;

/**
 * @throws RangeError, as an ArrayBuffer for which there is no memory, before the limit of the address space
 * (`ulimit -v`) is met: V8 ends the process when it cannot have memory for a collection, and it collects when a buffer
 * cannot be had.
 */
export function checkRoom(bytes: number): void {
  limit ??= addressSpaceLimit();
  if (limit === Number.POSITIVE_INFINITY) return;
  const used = Number(read('/proc/self/statm').split(' ', 1)[0]) * (binding?.pageSize ?? 4096);
  if (bytes * PART > limit - used)
    throw new RangeError('Array buffer allocation failed: the address space is limited');
}

function addressSpaceLimit(): number {
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY;
  const bytes = /^Max address space +(\d+)/m.exec(read('/proc/self/limits'))?.[1];
  return bytes === undefined ? Number.POSITIVE_INFINITY : Number(bytes);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
