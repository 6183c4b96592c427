import type { AmendOptions, BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { corrupt, notPossible } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { compressedFlag, entryOffset, putEntry, zeroFlag } from '../table-entry.ts';
import { everyL2Table } from './every-l2-table.ts';
import { rebuildCounts } from './rebuild-counts.ts';
import { StoredCounts } from './stored-counts.ts';

/** An L2 table with entries of zeroes. */
interface Found {
  readonly offset: number;
  /** How many L1 entries lead to it. */
  readonly references: number;
  /** Entries that need a new cluster. */
  readonly fresh: number;
}

/** What an entry of zeroes becomes: none, one of a new cluster, or one of the cluster that it has. */
type Fate = 'none' | 'fresh' | 'own';

/**
 * Turns entries that read as zeroes, which version 2 does not have, into ones that do so there. Each step leaves an image
 * that shows the same as before: an entry changes when what it will refer to is zero and counted, and a cluster loses
 * references when no entry has them any more.
 */
export async function replaceZeroClusters(
  file: BlockNode,
  header: Qcow2Header,
  work: AmendOptions = {},
): Promise<Qcow2Header> {
  const tables = await everyL2Table(file, header);
  const clusters = new ZeroClusters(file, header, await StoredCounts.read(file, header), work);
  await clusters.survey(tables.all);
  if (clusters.found.length === 0) return header;
  await clusters.checkShared(tables.active);
  const runs = clusters.found.map(({ fresh, references }) => ({ clusters: fresh, count: references }));
  const { refcountBits } = header;
  const current = runs.some((run) => run.clusters > 0)
    ? await rebuildCounts(file, header, { refcountBits, runs })
    : { header, offset: 0 };
  await clusters.zeroOwn();
  await clusters.rewrite(current.offset);
  await clusters.release(current.header);
  return current.header;
}

class ZeroClusters {
  readonly found: Found[] = [];
  readonly #file: BlockNode;
  readonly #header: Qcow2Header;
  readonly #counts: StoredCounts;
  readonly #work: AmendOptions;
  /** Clusters that entries of zeroes share with others, and the references that they will lose. */
  readonly #shared = new Map<number, number>();

  constructor(file: BlockNode, header: Qcow2Header, counts: StoredCounts, work: AmendOptions) {
    this.#file = file;
    this.#header = header;
    this.#counts = counts;
    this.#work = work;
  }

  async survey(tables: ReadonlySet<number>): Promise<void> {
    for (const offset of tables) {
      const references = await this.#counts.get(offset / this.#header.clusterSize);
      let entries = 0;
      let fresh = 0;
      await this.#each(offset, references, (_view, _at, fate, cluster) => {
        entries++;
        if (fate === 'fresh') fresh++;
        if (fate !== 'own' && cluster !== 0) this.#share(cluster, references);
      });
      if (entries > 0) this.found.push({ offset, references, fresh });
    }
  }

  #share(cluster: number, references: number): void {
    this.#shared.set(cluster, (this.#shared.get(cluster) ?? 0) + references);
  }

  /**
   * A cluster of which one reference will be left, and that one the disk's own, would then have to be marked as not
   * shared, in the instant in which its count changes. That is rare enough to be refused.
   */
  async checkShared(active: ReadonlySet<number>): Promise<void> {
    const single = new Set<number>();
    for (const [cluster, lost] of this.#shared) {
      const left = (await this.#counts.get(cluster / this.#header.clusterSize)) - lost;
      if (left < 0)
        throw corrupt(this.#file, `the cluster at ${cluster} has more references than its refcount`);
      if (left === 1) single.add(cluster);
    }
    if (single.size === 0) return;
    for (const offset of active) {
      const { view, length } = await this.#read(offset);
      for (let at = 0; at < length; at += 8) {
        const hi = view.getUint32(at);
        const lo = view.getUint32(at + 4);
        if (hi & compressedFlag || lo & zeroFlag || !single.has(entryOffset(hi, lo))) continue;
        throw notPossible(
          this.#file,
          `a snapshot has zeroes where it keeps the cluster at ${entryOffset(hi, lo)}, which the disk uses too; delete snapshots first`,
        );
      }
    }
  }

  async zeroOwn(): Promise<void> {
    const { clusterSize } = this.#header;
    for (const { offset, references } of this.found) {
      const own: number[] = [];
      await this.#each(offset, references, (_view, _at, fate, cluster) => {
        if (fate === 'own') own.push(cluster);
      });
      for (const cluster of own)
        await this.#file.writeZeroes(cluster, Math.min(clusterSize, this.#file.size - cluster));
    }
    await this.#file.flush();
  }

  /** New clusters follow one another from `next`, in the order of the tables and of their entries. */
  async rewrite(next: number): Promise<void> {
    const { clusterSize } = this.#header;
    let fresh = next;
    for (const [i, { offset, references }] of this.found.entries()) {
      const bytes = await this.#each(offset, references, (view, at, fate, cluster) => {
        const target = fate === 'own' ? cluster : fate === 'fresh' ? fresh : 0;
        if (fate === 'fresh') fresh += clusterSize;
        putEntry(view, at, target, references === 1 && target !== 0);
      });
      await this.#file.write(offset, bytes);
      this.#work.onProgress?.({ done: i + 1, total: this.found.length });
    }
    await this.#file.flush();
  }

  async release(header: Qcow2Header): Promise<void> {
    if (this.#shared.size === 0) return;
    const counts = await StoredCounts.read(this.#file, header);
    for (const [cluster, lost] of this.#shared) await counts.add(cluster / header.clusterSize, -lost);
    await this.#file.flush();
  }

  async #read(offset: number): Promise<{ bytes: Uint8Array; view: DataView; length: number }> {
    this.#work.signal?.throwIfAborted();
    const bytes = new Uint8Array(this.#header.clusterSize);
    await this.#file.read(offset, bytes);
    return { bytes, view: viewOf(bytes), length: bytes.length };
  }

  /** Visits the entries of zeroes of a table; the table, with what the visitor made of it. */
  async #each(
    offset: number,
    references: number,
    visit: (view: DataView, at: number, fate: Fate, cluster: number) => void,
  ): Promise<Uint8Array> {
    const { bytes, view, length } = await this.#read(offset);
    const behind = this.#header.backingFile !== undefined;
    for (let at = 0; at < length; at += 8) {
      const hi = view.getUint32(at);
      const lo = view.getUint32(at + 4);
      if (hi & compressedFlag || !(lo & zeroFlag)) continue;
      const cluster = entryOffset(hi, lo);
      const own = cluster !== 0 && (await this.#counts.get(this.#index(cluster))) === references;
      visit(view, at, own ? 'own' : behind ? 'fresh' : 'none', cluster);
    }
    return bytes;
  }

  #index(cluster: number): number {
    const { clusterSize } = this.#header;
    if (cluster % clusterSize === 0 && cluster < this.#file.size) return cluster / clusterSize;
    throw corrupt(this.#file, `an L2 table refers to ${cluster}, which is not a cluster of the file`);
  }
}
