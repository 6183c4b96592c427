import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { writeSectors } from './sectors.ts';
import type { Survey } from './survey.ts';

/**
 * Makes refcounts what was counted, where they are: only those that are too low, or only those that are too high.
 * Each is true by itself, so that it does not matter which of the writes a power cut keeps. @returns how many
 */
export async function adjustRefcounts(
  file: BlockNode,
  { header, structure, counts }: Survey,
  direction: 'raise' | 'lower',
  note: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { codec, perBlock } = structure;
  const bitsEach = header.refcountBits;
  let changed = 0;
  await structure.readBlocks(signal, async (index, { offset, bytes, zero, error }) => {
    if (error !== undefined) throw error;
    if (zero) bytes.fill(0);
    // What else lies on the block would be overwritten.
    if (counts.get(offset / header.clusterSize) !== 1) return;
    const view = viewOf(bytes);
    const first = index * perBlock;
    let from = -1;
    let to = 0;
    for (let i = 0; i < perBlock; i++) {
      const stored = codec.get(view, i);
      const right = Math.min(counts.get(first + i), codec.max);
      if (direction === 'raise' ? stored >= right : stored <= right) continue;
      codec.set(view, i, right);
      if (from < 0) from = Math.floor((i * bitsEach) / 8);
      to = Math.ceil(((i + 1) * bitsEach) / 8);
      changed++;
      note(`repaired: the refcount of cluster ${first + i} was ${stored} and is ${right}`);
    }
    if (from >= 0) await writeSectors(file, offset, bytes, from, to);
  });
  if (changed > 0) await file.flush();
  return changed;
}
