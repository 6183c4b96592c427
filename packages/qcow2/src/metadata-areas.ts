import { alignUp } from '@blockyard/core';
import type { L1Table } from './l1.ts';
import type { Table } from './tables.ts';
import { RefcountTable } from './write/refcount-table.ts';

/** Which metadata guest data is kept from: QEMU's names for how much is looked at before each write. */
export const overlapChecks = ['none', 'constant', 'cached', 'all'] as const;
export type OverlapCheck = (typeof overlapChecks)[number];

/**
 * Where the image's metadata is, by cluster. Guest data that an entry places there is never handed out, and nothing is
 * written there but what belongs there: else it is a damaged or made-up image, and the bytes would be a table's.
 */
export class MetadataAreas {
  readonly #clusterSize: number;
  #tables: Table[];
  #snapshots: Table[] = [];
  readonly #blocks = new Set<number>();
  readonly #l1: L1Table;
  /** Clusters of L2 tables, and how many entries of the L1 table lead there. Filled at the first use. */
  #l2: Map<number, number> | undefined;
  /** L2 tables of snapshots; filled only when all is checked. */
  #inactive = new Set<number>();

  constructor(clusterSize: number, tables: readonly Table[], refcountBlocks: Iterable<number>, l1: L1Table) {
    this.#clusterSize = clusterSize;
    this.#tables = [];
    this.setTables(tables);
    this.setBlocks(refcountBlocks);
    this.#l1 = l1;
  }

  /** The header's tables: nothing else lies in their clusters. */
  setTables(tables: readonly Table[]): void {
    this.#tables = tables.map((table) => ({ ...table, length: alignUp(table.length, this.#clusterSize) }));
  }

  /** What of them are named as `what` is replaced by `table`, or goes without one. */
  setTable(what: string, table?: Omit<Table, 'what'>): void {
    const others = this.#tables.filter((one) => one.what !== what);
    this.setTables(table ? [...others, { what, ...table }] : others);
  }

  setBlocks(offsets: Iterable<number>): void {
    this.#blocks.clear();
    for (const offset of offsets) this.#blocks.add(offset / this.#clusterSize);
  }

  /** The tables of snapshots, and the L2 tables that they lead to where those are to be looked at. */
  setSnapshots(tables: readonly Table[], l2: Iterable<number>): void {
    this.#snapshots = tables.map((table) => ({ ...table, length: alignUp(table.length, this.#clusterSize) }));
    this.#inactive = new Set();
    for (const offset of l2) this.#inactive.add(offset / this.#clusterSize);
  }

  addBlock(offset: number): void {
    this.#blocks.add(offset / this.#clusterSize);
  }

  addL2(offset: number): void {
    const cluster = offset / this.#clusterSize;
    this.#l2?.set(cluster, (this.#l2.get(cluster) ?? 0) + 1);
  }

  removeL2(offset: number): void {
    const cluster = offset / this.#clusterSize;
    const count = this.#l2?.get(cluster) ?? 0;
    if (count > 1) this.#l2?.set(cluster, count - 1);
    else this.#l2?.delete(cluster);
  }

  /** The L1 table is another. */
  forgetL2(): void {
    this.#l2 = undefined;
  }

  /** What of the metadata the bytes from `start` to `end` touch, but for L2 tables. */
  fixed(start: number, end: number): string | undefined {
    return (
      this.#constant(start, end) ?? (this.#touches(this.#blocks, start, end) ? 'a refcount block' : undefined)
    );
  }

  any(start: number, end: number): string | undefined {
    return this.#touches(this.#l2Tables(), start, end) ? 'an L2 table' : this.fixed(start, end);
  }

  /** Whether a write there would hit metadata, so far as it is looked at. */
  hit(check: OverlapCheck, start: number, end: number): string | undefined {
    if (check === 'none') return undefined;
    if (check === 'constant') return this.#constant(start, end);
    const touched = this.any(start, end) ?? inTables(this.#snapshots, start, end);
    if (touched || check === 'cached') return touched;
    return this.#touches(this.#inactive, start, end) ? "a snapshot's L2 table" : undefined;
  }

  /** Byte after the last of all that is known. */
  end(): number {
    const tables = [...this.#tables, ...this.#snapshots].map(({ offset, length }) => offset + length);
    let end = Math.max(this.#clusterSize, ...tables);
    for (const clusters of [this.#blocks, this.#l2Tables().keys(), this.#inactive])
      for (const cluster of clusters) end = Math.max(end, (cluster + 1) * this.#clusterSize);
    return end;
  }

  /** Whether more than one L1 entry leads to the L2 table: a small file could show endless disks that way. */
  isShared(table: number): boolean {
    return (this.#l2Tables().get(table / this.#clusterSize) ?? 0) > 1;
  }

  #constant(start: number, end: number): string | undefined {
    return start < this.#clusterSize ? 'the header' : inTables(this.#tables, start, end);
  }

  #l2Tables(): Map<number, number> {
    if (this.#l2) return this.#l2;
    this.#l2 = new Map();
    for (const offset of this.#l1.used()) this.addL2(offset);
    return this.#l2;
  }

  #touches(clusters: { has(cluster: number): boolean; size: number }, start: number, end: number): boolean {
    if (clusters.size === 0) return false;
    const last = Math.floor((end - 1) / this.#clusterSize);
    for (let at = Math.floor(start / this.#clusterSize); at <= last; at++) if (clusters.has(at)) return true;
    return false;
  }
}

const inTables = (tables: readonly Table[], start: number, end: number): string | undefined =>
  tables.find(({ offset, length }) => start < offset + length && offset < end)?.what;

/** "Refcount table": offsets of the refcount blocks. Entries that make no sense are for a check to tell of. */
export function refcountBlocks(table: Uint8Array, clusterSize: number): Float64Array {
  const entries = new RefcountTable(0, table);
  const found: number[] = [];
  for (let i = 0; i < entries.length; i++) {
    const offset = entries.at(i);
    if (offset !== 0 && Number.isSafeInteger(offset) && offset % clusterSize === 0) found.push(offset);
  }
  return Float64Array.from(found);
}
