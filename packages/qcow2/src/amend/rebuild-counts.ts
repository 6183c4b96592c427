import type { BlockNode } from '@blockyard/core';
import { noSpace } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { writeHeader } from '../write/header-writer.ts';
import { planCounts, type Run, writeCounts } from './new-counts.ts';
import { StoredCounts } from './stored-counts.ts';

/** What else changes with the refcounts, in the same instant. */
export interface Rebuild {
  refcountBits: number;
  /** New clusters. They read as zeroes unless `fill` writes them. */
  runs?: readonly Run[];
  fill?: (offset: number) => Promise<void>;
  /** Clusters that lose a reference, besides those of the old refcounts. */
  gone?: readonly number[];
  change?: (offset: number) => Partial<Qcow2Header>;
}

/**
 * Writes the refcounts anew into clusters that nothing uses, and lets the header, in one write, point there: the old
 * ones are counted as free in the new ones, so that there is no moment in which counts and references differ.
 * Returns the new header, and where the new clusters are.
 */
export async function rebuildCounts(
  file: BlockNode,
  header: Qcow2Header,
  rebuild: Rebuild,
): Promise<{ header: Qcow2Header; offset: number }> {
  const { refcountBits, runs = [], fill, change, gone = [] } = rebuild;
  const { clusterSize } = header;
  const old = await StoredCounts.read(file, header);
  const plan = await planCounts(file, header, old, refcountBits, runs);
  const offset = plan.start * clusterSize;
  const size = file.size;
  const free = new Set(gone);
  for (let i = 0; i < header.refcountTableClusters; i++)
    free.add(header.refcountTableOffset / clusterSize + i);
  for (const block of old.blocks) if (block !== 0) free.add(block / clusterSize);
  try {
    await provide(file, plan.end * clusterSize);
    if (offset < size && runs.length > 0) await file.writeZeroes(offset, plan.tableOffset - offset);
    await fill?.(offset);
    await writeCounts(file, header, old, runs, plan, free);
  } catch (error) {
    // Nothing refers to it yet, so that it does no harm where it cannot be cut off.
    if (file.supports.resize) await file.truncate(size, { shrink: true }).catch(() => {});
    throw error;
  }
  const next: Qcow2Header = {
    ...header,
    ...change?.(offset),
    refcountBits,
    refcountTableOffset: plan.tableOffset,
    refcountTableClusters: plan.tableClusters,
  };
  // It makes durable first what was written before.
  await writeHeader(file, next);
  return { header: next, offset };
}

async function provide(file: BlockNode, size: number): Promise<void> {
  if (file.size >= size) return;
  if (file.supports.resize) return await file.truncate(size);
  throw noSpace(file, `the change needs ${size} bytes, and the device has ${file.size}; use a larger one`);
}
