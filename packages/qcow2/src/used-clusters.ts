import type { BlockNode } from '@blockyard/core';
import { viewOf } from './bytes.ts';
import type { Qcow2Header } from './header.ts';
import { readTable, refcountTable } from './tables.ts';

/**
 * "Refcount blocks": how many of the file's clusters are in use, counted up to `enough`. Blocks that are not where
 * they could be count as nothing: it is an estimate, and a check tells of them.
 */
export async function countUsedClusters(
  header: Qcow2Header,
  file: BlockNode,
  enough: number,
): Promise<number> {
  const { clusterSize, refcountBits } = header;
  const table = viewOf(await readTable(file, refcountTable(header)));
  const perBlock = (clusterSize * 8) / refcountBits;
  // No more blocks than the file has clusters for, whatever the table has.
  const blocks = Math.min(table.byteLength / 8, Math.ceil(file.size / clusterSize / perBlock));
  const block = new Uint8Array(clusterSize);
  let used = 0;
  for (let i = 0; i < blocks && used < enough; i++) {
    const offset = table.getUint32(i * 8) * 2 ** 32 + table.getUint32(i * 8 + 4);
    if (offset === 0 || offset % clusterSize !== 0 || offset + clusterSize > file.size) continue;
    await file.read(offset, block);
    used += countNonZero(block, refcountBits);
  }
  return used;
}

/** Numbers of `bits` each that are not zero. */
function countNonZero(block: Uint8Array, bits: number): number {
  const step = Math.max(1, bits / 8);
  const mask = bits < 8 ? 2 ** bits - 1 : 255;
  let count = 0;
  for (let at = 0; at < block.length; at += step) {
    let any = 0;
    for (let i = 0; i < step; i++) any |= block[at + i] as number;
    for (; any !== 0; any >>>= bits) {
      if (any & mask) count++;
      if (bits >= 8) break;
    }
  }
  return count;
}
