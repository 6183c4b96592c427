import type { BlockError, BlockNode, MaybePromise } from '@blockyard/core';
import { corrupt, notPossible, tooLarge } from '../failure.ts';
import { maxTableBytes } from '../tables.ts';
import { type RefcountCodec, refcountCodec } from './refcount-codec.ts';
import { type BlocksHost, TransitionBlocks } from './transition-blocks.ts';

/** Where the refcount table of a transition was written, ready for the header to point to. */
interface StoredTable {
  offset: number;
  bytes: Uint8Array;
}

interface CountLayout {
  clusterSize: number;
  refcountBits: number;
}

interface Owed {
  cluster: number;
  clusters: number;
  delta: 1 | -1;
}

/**
 * The refcounts as they will be after a transition. Blocks that change are copied to free clusters; those of the image
 * stay as they are. It gives out clusters by itself, so that nothing is to be undone when the transition fails. Not for
 * use by two at once.
 */
export class TransitionRefcounts {
  readonly #file: BlockNode;
  readonly #clusterSize: number;
  readonly #bits: number;
  readonly #codec: RefcountCodec;
  readonly #blocks: TransitionBlocks;
  /** Clusters that one block counts. */
  readonly perBlock: number;
  /**
   * No cluster before it is given out any more: what was just given out may not be counted yet. The first is the
   * header's, whatever is said to count it.
   */
  #cursor = 1;
  #lowestGiven = Number.POSITIVE_INFINITY;
  #lowestFreed = Number.POSITIVE_INFINITY;
  /** Changes that blocks themselves cause; each may need another block. */
  readonly #owed: Owed[] = [];

  constructor(file: BlockNode, layout: CountLayout, table: Uint8Array, write: BlocksHost['write']) {
    this.#file = file;
    this.#clusterSize = layout.clusterSize;
    this.#bits = layout.refcountBits;
    this.#codec = refcountCodec(layout.refcountBits);
    this.perBlock = (layout.clusterSize * 8) / layout.refcountBits;
    const place = async (previous: number) => {
      const cluster = await this.#find(1);
      this.#owed.push({ cluster, clusters: 1, delta: 1 });
      if (previous > 0) this.#owed.push({ cluster: previous / this.#clusterSize, clusters: 1, delta: -1 });
      return cluster * this.#clusterSize;
    };
    this.#blocks = new TransitionBlocks(file, layout.clusterSize, table, { place, write });
  }

  /** Whether anything is counted otherwise than before. */
  get changed(): boolean {
    return this.#blocks.changed;
  }

  /** Clusters from here on were not given out. */
  get reached(): number {
    return this.#cursor;
  }

  /** Whether what was given out lies behind what became free, which could not be reused yet. */
  get leavesHoles(): boolean {
    return this.#lowestFreed < this.#lowestGiven;
  }

  /** Copies the blocks that another transition has just copied: where it put them is not where they need to stay. */
  async copyBlocksOf(other: TransitionRefcounts): Promise<void> {
    for (let index = 0; index < this.#blocks.length; index++)
      if (other.#blocks.isChanged(index)) await this.#blocks.change(index);
  }

  get(cluster: number): MaybePromise<number> {
    const block = this.#blocks.now(Math.floor(cluster / this.perBlock));
    if (block === undefined) return 0;
    const index = cluster % this.perBlock;
    if (block instanceof Promise) return block.then((view) => (view ? this.#codec.get(view, index) : 0));
    return this.#codec.get(block, index);
  }

  /** One reference more or less to every cluster that the bytes touch; they are in use before and `what` says by whom. */
  async change(what: string, offset: number, bytes: number, delta: 1 | -1): Promise<void> {
    const end = Math.floor((offset + bytes - 1) / this.#clusterSize) + 1;
    for (let cluster = Math.floor(offset / this.#clusterSize); cluster < end; ) {
      const index = Math.floor(cluster / this.perBlock);
      // An entry may lead anywhere: nothing is made for it.
      if (!this.#blocks.has(index)) throw this.#notCounted(cluster, what);
      const view = this.#blocks.changing(index) ?? (await this.#blocks.change(index));
      const stop = Math.min(end, (index + 1) * this.perBlock);
      for (; cluster < stop; cluster++) this.#changeIn(view, cluster, delta, what);
    }
  }

  /** So many clusters in a row that nothing uses before or after, with one reference each; byte offset of the first. */
  async allocate(clusters: number): Promise<number> {
    const first = await this.#find(clusters);
    await this.#set(first, clusters);
    return first * this.#clusterSize;
  }

  /** The same, behind everything that is in use. */
  async allocateAtEnd(clusters: number): Promise<number> {
    this.#cursor = Math.max(this.#cursor, await this.end());
    return await this.allocate(clusters);
  }

  /** The first cluster that is not in use, and all after it are not. */
  async end(): Promise<number> {
    for (let index = this.#blocks.length - 1; index >= 0; index--) {
      const view = await this.#blocks.now(index);
      if (!view) continue;
      for (let at = this.perBlock - 1; at >= 0; at--) {
        if (this.#codec.get(view, at) !== 0) return index * this.perBlock + at + 1;
      }
    }
    return 0;
  }

  /** Writes everything, with a new table; the one at `old` is given up. */
  async store(old: { offset: number; clusters: number }): Promise<StoredTable> {
    this.#owed.push({ cluster: old.offset / this.#clusterSize, clusters: old.clusters, delta: -1 });
    await this.#settle();
    let clusters = 0;
    let first = 0;
    // The clusters of the table may need a block that it then has no entry for.
    while (this.#blocks.length * 8 > clusters * this.#clusterSize) {
      if (clusters > 0) this.#owed.push({ cluster: first, clusters, delta: -1 });
      clusters = Math.max(old.clusters, Math.ceil((this.#blocks.length * 8) / this.#clusterSize));
      if (clusters * this.#clusterSize > maxTableBytes.refcount) {
        throw tooLarge(
          this.#file,
          `the refcount table would need ${clusters * this.#clusterSize} bytes; the most is ${maxTableBytes.refcount}`,
        );
      }
      first = await this.#find(clusters);
      this.#owed.push({ cluster: first, clusters, delta: 1 });
      await this.#settle();
    }
    await this.#blocks.store();
    const bytes = this.#blocks.tableBytes(clusters * this.#clusterSize);
    return { offset: first * this.#clusterSize, bytes };
  }

  /** Runs of clusters that were in use before and are not any more, in bytes. After `store`. */
  async *freed(): AsyncGenerator<{ offset: number; length: number }> {
    // Blocks of before are looked into meanwhile: they come last, when nobody needs them any more.
    const blocks = this.#blocks.replaced();
    let first = 0;
    let length = 0;
    const run = () => ({ offset: first * this.#clusterSize, length: length * this.#clusterSize });
    for (let index = 0; index < this.#blocks.length; index++) {
      if (!this.#blocks.isChanged(index)) continue;
      const before = await this.#blocks.before(index);
      const now = await this.#blocks.now(index);
      for (let at = 0; before && now && at < this.perBlock; at++) {
        if (this.#codec.get(before, at) === 0 || this.#codec.get(now, at) !== 0) continue;
        const cluster = index * this.perBlock + at;
        if (blocks.has(cluster * this.#clusterSize)) continue;
        if (first + length !== cluster) {
          if (length > 0) yield run();
          first = cluster;
          length = 0;
        }
        length++;
      }
    }
    if (length > 0) yield run();
    for (const offset of blocks) yield { offset, length: this.#clusterSize };
  }

  #notCounted(cluster: number, what: string): BlockError {
    const offset = cluster * this.#clusterSize;
    return corrupt(this.#file, `the cluster at ${offset} is used by ${what}, and its refcount is 0`, offset);
  }

  #changeIn(view: DataView, cluster: number, delta: 1 | -1, what: string): void {
    const index = cluster % this.perBlock;
    const count = this.#codec.get(view, index);
    const offset = cluster * this.#clusterSize;
    if (count === 0) throw this.#notCounted(cluster, what);
    if (delta > 0 && count >= this.#codec.max) {
      throw notPossible(
        this.#file,
        `the cluster at ${offset} has ${count} references, the most that ${this.#bits}-bit refcounts count, and ${what} would be one more; delete a snapshot, or amend the image to wider refcounts`,
      );
    }
    this.#codec.set(view, index, count + delta);
    if (count + delta === 0) this.#lowestFreed = Math.min(this.#lowestFreed, cluster);
  }

  async #set(first: number, clusters: number): Promise<void> {
    for (let cluster = first; cluster < first + clusters; ) {
      const index = Math.floor(cluster / this.perBlock);
      const view = this.#blocks.changing(index) ?? (await this.#blocks.change(index));
      const stop = Math.min(first + clusters, (index + 1) * this.perBlock);
      for (; cluster < stop; cluster++) this.#codec.set(view, cluster % this.perBlock, 1);
    }
  }

  async #settle(): Promise<void> {
    while (this.#owed.length > 0) {
      const { cluster, clusters, delta } = this.#owed.pop() as Owed;
      if (delta > 0) await this.#set(cluster, clusters);
      else await this.change('a table', cluster * this.#clusterSize, clusters * this.#clusterSize, -1);
    }
  }

  #isUsed(view: DataView | undefined, cluster: number): boolean {
    return view !== undefined && this.#codec.get(view, cluster % this.perBlock) !== 0;
  }

  /** The first row of free clusters from the cursor on. What was in use before is not free: it is still needed. */
  async #find(clusters: number): Promise<number> {
    let first = this.#cursor;
    let at = first;
    while (at - first < clusters) {
      const index = Math.floor(at / this.perBlock);
      const end = (index + 1) * this.perBlock;
      const before = await this.#blocks.before(index);
      const now = await this.#blocks.now(index);
      for (; at < end && at - first < clusters; at++)
        if (this.#isUsed(before, at) || this.#isUsed(now, at)) first = at + 1;
    }
    this.#cursor = first + clusters;
    this.#lowestGiven = Math.min(this.#lowestGiven, first);
    return first;
  }
}
