import { alignDown, alignUp, type BlockNode } from '@blockyard/core';

const sectorBytes = 512;

/** Writes the sectors of a table that bytes `from` to `to` touch; sectors are what a power cut keeps or loses as a whole. */
export async function writeSectors(
  file: BlockNode,
  offset: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): Promise<void> {
  const start = alignDown(from, sectorBytes);
  const end = Math.min(alignUp(to, sectorBytes), bytes.length);
  await ensureSize(file, offset + end);
  await file.write(offset + start, bytes.subarray(start, end));
}

export async function ensureSize(file: BlockNode, size: number): Promise<void> {
  if (file.size < size) await file.truncate(size);
}
