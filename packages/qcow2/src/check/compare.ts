import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import type { Survey } from './survey.ts';

/** A cluster whose refcount in the file is not the number of its references. */
export type OnDifference = (cluster: number, stored: number, references: number) => void;

/** Compares every refcount of the file with what was counted. */
export async function compare(
  file: BlockNode,
  { header, structure, counts }: Survey,
  signal: AbortSignal | undefined,
  visit: OnDifference,
  onProgress?: (bytes: number) => void,
): Promise<void> {
  const { codec, perBlock } = structure;
  const end = Math.max(Math.ceil(file.size / header.clusterSize), counts.last() + 1);
  const seen = new Set<number>();
  await structure.readBlocks(
    signal,
    (index, { bytes, zero, error }) => {
      if (zero) return;
      if (error !== undefined) throw error;
      seen.add(index);
      const view = viewOf(bytes);
      const first = index * perBlock;
      const there = Math.min(perBlock, end - first);
      for (let i = 0; i < there; i++) {
        const stored = codec.get(view, i);
        const references = counts.get(first + i);
        if (stored !== references) visit(first + i, stored, references);
      }
    },
    onProgress,
  );
  // Where there is no block, nothing is in use as far as the file says.
  const { pageClusters } = counts;
  for (const page of counts.pages()) {
    for (let i = 0; i < pageClusters; i++) {
      const cluster = page * pageClusters + i;
      const references = counts.get(cluster);
      if (references !== 0 && !seen.has(Math.floor(cluster / perBlock))) visit(cluster, 0, references);
    }
  }
}
