import { alignUp, BlockError, type BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { maxTableBytes } from '../tables.ts';
import { compare } from './compare.ts';
import { changeHeader } from './header-sector.ts';
import { ensureSize } from './sectors.ts';
import type { Survey } from './survey.ts';

/**
 * Writes a new refcount table and blocks, for what was counted, to clusters after all that is in use, and switches to
 * them with one write of the header. Until then the image is as it was; from then on the old ones are free. Uses up
 * the counts of the survey.
 */
export async function rebuildRefcounts(
  file: BlockNode,
  survey: Survey,
  note: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { header, structure, counts } = survey;
  const { clusterSize } = header;
  if (survey.report.incomplete) await keepUnreferenced(file, survey, signal);
  // What a lost table refers to may have no count at all.
  const beyond = survey.report.incomplete && file.supports.resize ? Math.ceil(file.size / clusterSize) : 0;
  const start = Math.max(counts.last() + 1, beyond);
  for (const offset of structure.counted) counts.add(offset / clusterSize, -1);
  if (structure.tableThere) {
    const table = header.refcountTableOffset / clusterSize;
    for (let i = 0; i < header.refcountTableClusters; i++) counts.add(table + i, -1);
  }
  const { blocks, tableClusters } = plan(file, survey, start);
  for (let i = 0; i < tableClusters + blocks.length; i++) counts.add(start + i, 1);
  await ensureSize(file, (start + tableClusters + blocks.length) * clusterSize);
  await write(file, survey, start, tableClusters, blocks, signal);
  signal?.throwIfAborted();
  await changeHeader(file, (view) => {
    view.setBigUint64(48, BigInt(start * clusterSize));
    view.setUint32(56, tableClusters);
  });
  note(`repaired: the refcounts were written anew, with their table at ${start * clusterSize}`);
}

/** Where not every table could be followed, what is not referred to may be what the lost table refers to. */
async function keepUnreferenced(
  file: BlockNode,
  survey: Survey,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { counts, structure } = survey;
  await compare(file, survey, signal, (cluster, stored, references) => {
    const kept = Math.min(stored, structure.codec.max);
    if (kept > references) counts.add(cluster, kept - references);
  });
}

/** The indices of the blocks that are needed, for themselves and their table too. */
function plan(file: BlockNode, { header, structure, counts }: Survey, start: number) {
  const { clusterSize } = header;
  const { perBlock } = structure;
  const needed = new Set<number>();
  for (const cluster of counts.used()) needed.add(Math.floor(cluster / perBlock));
  let tableClusters = 1;
  for (let before = -1; before !== needed.size + tableClusters; ) {
    before = needed.size + tableClusters;
    for (let i = Math.floor(start / perBlock); i * perBlock < start + before; i++) needed.add(i);
    let largest = 0;
    for (const index of needed) largest = Math.max(largest, index);
    tableClusters = Math.ceil(((largest + 1) * 8) / clusterSize);
  }
  if (tableClusters * clusterSize > alignUp(maxTableBytes.refcount, clusterSize)) {
    const text = `check: the refcounts of ${file.path || 'the image'} would need a table of ${tableClusters * clusterSize} bytes, more than other programs open; copy the disk to a new image`;
    throw new BlockError('ERR_NOT_SUPPORTED', text, { driver: 'qcow2', path: file.path || undefined });
  }
  return { tableClusters, blocks: [...needed].sort((a, b) => a - b) };
}

async function write(
  file: BlockNode,
  { header, structure, counts }: Survey,
  start: number,
  tableClusters: number,
  blocks: readonly number[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { clusterSize } = header;
  const { codec, perBlock } = structure;
  const table = new Uint8Array(tableClusters * clusterSize);
  const block = new Uint8Array(clusterSize);
  for (const [i, index] of blocks.entries()) {
    signal?.throwIfAborted();
    const offset = (start + tableClusters + i) * clusterSize;
    viewOf(table).setBigUint64(index * 8, BigInt(offset));
    block.fill(0);
    const view = viewOf(block);
    for (let at = 0; at < perBlock; at++) {
      const count = counts.get(index * perBlock + at);
      if (count > 0) codec.set(view, at, Math.min(count, codec.max));
    }
    await file.write(offset, block);
  }
  await file.write(start * clusterSize, table);
}
