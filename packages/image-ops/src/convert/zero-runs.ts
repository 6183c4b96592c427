import { zeroRuns } from '@blockyard/zero-detect';

export interface Run {
  start: number;
  length: number;
  zero: boolean;
}

/** Blocks are not looked at one by one below this size, nor in larger ones than this. */
const blockBytes = 4096;

/**
 * Cuts data into runs that are zero and at least `sparse` bytes long, and what lies between. Data that is zero as a
 * whole is one run however short it is.
 */
export function sparseRuns(data: Uint8Array, offset: number, sparse: number, align: number): Run[] {
  if (sparse === 0) return [{ start: 0, length: data.byteLength, zero: false }];
  const runs: Run[] = [];
  for (const { start, length, zero } of zeroRuns(
    data,
    Math.max(align, Math.min(sparse, blockBytes)),
    offset,
  )) {
    const last = runs.at(-1);
    const counts = zero && (length >= sparse || length === data.byteLength);
    if (last && last.zero === counts) last.length += length;
    else runs.push({ start, length, zero: counts });
  }
  return runs;
}
