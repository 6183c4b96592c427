import { BlockError } from '@blockyard/core';
import type { Opened } from './opened.ts';
import { codeOf } from './system-codes.ts';

export interface Alignment {
  /** Of offsets and lengths. */
  readonly request: number;
  /** Of memory. */
  readonly memory: number;
}

const isPowerOfTwo = (n: number): boolean => n > 0 && Number.isInteger(Math.log2(n));

/** What direct I/O on this file demands: as the kernel says, else as the device says, else as trial reads show. */
export async function probeAlignment(opened: Opened): Promise<Alignment> {
  const { dioMemAlign = 0, dioOffsetAlign = 0 } = opened.status;
  if (isPowerOfTwo(dioMemAlign) && isPowerOfTwo(dioOffsetAlign))
    return { request: dioOffsetAlign, memory: dioMemAlign };
  if (opened.kind === 'block') return { request: opened.sector, memory: opened.sector };
  return await tryReads(opened);
}

/** Trial reads at offset 0: first with memory of less and less doubtful alignment, then with lengths likewise. */
export async function tryReads(opened: Opened): Promise<Alignment> {
  const { host, file, filename } = opened;
  const most = Math.max(4096, host.pageSize);
  // At the end of a file the kernel has nothing to read and may not look at the alignment at all.
  if ((await file.status()).size === 0) return { request: most, memory: most };
  const memory = host.memory();
  const buffer = memory.allocate(2 * most, most);
  const works = async (view: Uint8Array): Promise<boolean> => {
    try {
      await file.read(0, view, undefined);
      return true;
    } catch (error) {
      // Any other error is not about alignment, and shows again when somebody reads.
      return codeOf(error) !== 'EINVAL';
    }
  };
  const first = async (view: (align: number) => Uint8Array): Promise<number> => {
    for (let align = 512; align <= most; align *= 2) if (await works(view(align))) return align;
    const text = `open ${filename}: no alignment up to ${most} bytes works for direct I/O; use cache.direct: false`;
    throw new BlockError('EINVAL', text, { op: 'open', driver: 'file', path: filename });
  };
  try {
    return {
      memory: await first((align) => buffer.subarray(align, align + most)),
      request: await first((align) => buffer.subarray(0, align)),
    };
  } finally {
    memory.release(buffer);
  }
}
