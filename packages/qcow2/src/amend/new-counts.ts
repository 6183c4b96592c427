import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { notPossible } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { maxTableBytes } from '../tables.ts';
import { refcountCodec } from '../write/refcount-codec.ts';
import type { StoredCounts } from './stored-counts.ts';

/** New clusters, one after another, with this many references each. */
export interface Run {
  clusters: number;
  count: number;
}

/** Where a new refcount table and its blocks go, and what they count. */
export interface NewCounts {
  readonly refcountBits: number;
  /** First cluster that the old counts do not know: the new clusters, the table and the blocks follow from there. */
  readonly start: number;
  readonly tableOffset: number;
  readonly tableClusters: number;
  /** Cluster after the last block. */
  readonly end: number;
  /** Numbers of the blocks that there are, in order. */
  readonly blocks: readonly number[];
}

/** Room for the new clusters and for a table that counts all. @throws BlockError when a count does not fit */
export async function planCounts(
  file: BlockNode,
  header: Qcow2Header,
  old: StoredCounts,
  refcountBits: number,
  runs: readonly Run[],
): Promise<NewCounts> {
  const { clusterSize } = header;
  const { max } = refcountCodec(refcountBits);
  const perBlock = (clusterSize * 8) / refcountBits;
  const used = new Set<number>();
  let last = 0;
  await old.each(0, Number.POSITIVE_INFINITY, (cluster, count) => {
    if (count > max) {
      throw notPossible(
        file,
        `cluster ${cluster} has ${count} references, and a refcount of ${refcountBits} bits holds at most ${max}; delete snapshots, or choose more bits`,
      );
    }
    used.add(Math.floor(cluster / perBlock));
    last = cluster;
  });
  // On a device the image ends where its last cluster does.
  const start = Math.max(last + 1, file.supports.resize ? Math.ceil(file.size / clusterSize) : 0);
  const added = runs.reduce((sum, { clusters }) => sum + clusters, 0);
  for (let blocks = 0, tableClusters = 1; ; ) {
    const end = start + added + tableClusters + blocks;
    const numbers = new Set(used);
    for (let i = Math.floor(start / perBlock); i <= Math.floor((end - 1) / perBlock); i++) numbers.add(i);
    const tableBytes = Math.ceil(end / perBlock) * 8;
    if (tableBytes > maxTableBytes.refcount) {
      throw notPossible(
        file,
        `with refcounts of ${refcountBits} bits their table would have ${tableBytes} bytes, and the most is ${maxTableBytes.refcount}; choose fewer bits`,
      );
    }
    const needed = Math.ceil(tableBytes / clusterSize);
    if (numbers.size === blocks && needed === tableClusters) {
      const tableOffset = (start + added) * clusterSize;
      return {
        refcountBits,
        start,
        tableOffset,
        tableClusters,
        end,
        blocks: [...numbers].sort((a, b) => a - b),
      };
    }
    blocks = numbers.size;
    tableClusters = needed;
  }
}

/** Writes the table and the blocks. `gone` are clusters that lose a reference by the change. */
export async function writeCounts(
  file: BlockNode,
  header: Qcow2Header,
  old: StoredCounts,
  runs: readonly Run[],
  plan: NewCounts,
  gone: ReadonlySet<number>,
): Promise<void> {
  const { clusterSize } = header;
  const { refcountBits, start, tableOffset, tableClusters, end } = plan;
  const codec = refcountCodec(refcountBits);
  const perBlock = (clusterSize * 8) / refcountBits;
  const blocksAt = tableOffset + tableClusters * clusterSize;
  const table = new Uint8Array(tableClusters * clusterSize);
  for (const [i, number] of plan.blocks.entries())
    viewOf(table).setBigUint64(number * 8, BigInt(blocksAt + i * clusterSize));
  await file.write(tableOffset, table);
  const fresh = freshCounts(runs, start, end);
  for (const [i, number] of plan.blocks.entries()) {
    const block = new Uint8Array(clusterSize);
    const view = viewOf(block);
    const first = number * perBlock;
    await old.each(first, Math.min(start, first + perBlock), (cluster, count) =>
      codec.set(view, cluster - first, gone.has(cluster) ? count - 1 : count),
    );
    for (let cluster = Math.max(start, first); cluster < Math.min(end, first + perBlock); cluster++)
      codec.set(view, cluster - first, fresh(cluster));
    await file.write(blocksAt + i * clusterSize, block);
  }
}

/** Counts of the new clusters, asked for in order. */
function freshCounts(runs: readonly Run[], start: number, end: number): (cluster: number) => number {
  const all = [...runs, { clusters: end - start, count: 1 }];
  let index = 0;
  let until = start + (all[0] as Run).clusters;
  return (cluster) => {
    while (cluster >= until) until += (all[++index] as Run).clusters;
    return (all[index] as Run).count;
  };
}
