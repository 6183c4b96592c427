import { BlockError, type MaybePromise } from '@blockyard/core';
import { corrupt } from '../failure.ts';
import { maxTableBytes } from '../tables.ts';
import { Lock } from './lock.ts';
import { refcountCodec } from './refcount-codec.ts';
import { RefcountTable } from './refcount-table.ts';
import type { Refcounts } from './refcounts.ts';

/** Clusters in a row, in bytes. */
export interface Taken {
  offset: number;
  clusters: number;
  /** Nothing was ever there: beyond what the file had, and so zeroes. */
  fresh: boolean;
}

/** What the allocator needs of the image around it. */
export interface AllocatorHost {
  /** Writes metadata to new clusters. */
  writeTable(what: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** The header names another refcount table, and nothing else changes while it does. */
  switchRefcountTable(offset: number, bytes: Uint8Array): Promise<void>;
  /** A refcount block is there now. */
  addBlock(offset: number): void;
  /** The cluster is nobody's from now on. */
  freed(cluster: number): void;
}

/**
 * Gives out clusters. The search goes on where the last one ended, and goes back only to what was freed, so that
 * nothing is looked at twice. What is given out counts as in use at once, in memory; a commit makes that durable.
 */
export class Allocator {
  readonly refcounts: Refcounts;
  readonly #refcountBits: number;
  readonly #host: AllocatorHost;
  readonly #lock = new Lock();
  /** No free cluster is before it. The first is the header's, whatever is said to count it. */
  #cursor = 1;
  /** Clusters from here on were never used: the file ended before them. */
  #end: number;

  constructor(refcounts: Refcounts, refcountBits: number, host: AllocatorHost) {
    this.refcounts = refcounts;
    this.#refcountBits = refcountBits;
    this.#host = host;
    this.#end = Math.ceil(refcounts.file.size / refcounts.clusterSize);
  }

  /** Byte after the last cluster that was ever used. */
  get end(): number {
    return this.#end * this.refcounts.clusterSize;
  }

  /** At least one and at most `most` clusters in a row. */
  take(most: number): MaybePromise<Taken> {
    if (!this.#lock.held) {
      const taken = this.#tryTake(most);
      if (taken) return taken;
    }
    return this.#lock.run(() => this.#takeSlowly(most));
  }

  /** Just so many clusters in a row; byte offset of the first. */
  async allocate(clusters: number): Promise<number> {
    if (clusters === 1) return (await this.take(1)).offset;
    return await this.#lock.run(() => this.#takeRow(clusters));
  }

  /** One reference less to each, at once: nothing durable refers to them. */
  async free(offset: number, clusters: number): Promise<void> {
    await this.refcounts.add(offset, clusters * this.refcounts.clusterSize, -1, (cluster) =>
      this.freed(cluster),
    );
  }

  /** The cluster's count went down to zero. */
  freed(cluster: number): void {
    if (cluster < this.#cursor) this.#cursor = Math.max(1, cluster);
    this.#host.freed(cluster);
  }

  /** Byte after the last cluster that is in use. */
  async lastUsed(): Promise<number> {
    const { refcounts } = this;
    let end = this.#end;
    while (end > 0 && (await refcounts.get(end - 1)) === 0) end--;
    return end * refcounts.clusterSize;
  }

  /** The file was cut off there. */
  cutBack(end: number): void {
    this.#end = end / this.refcounts.clusterSize;
  }

  /** Nobody puts anything more into the cluster, though it still counts as in use. */
  abandoned(cluster: number): void {
    this.#host.freed(cluster);
  }

  /** Other tables count from now on, and clusters before `reached` may have been written. */
  restart(reached: number): void {
    this.#cursor = 1;
    this.#end = Math.max(this.#end, reached);
  }

  /** Without waiting: undefined when something has to be read or made first. */
  #tryTake(most: number): Taken | undefined {
    const { refcounts } = this;
    for (;;) {
      if (!refcounts.hasBlock(this.#cursor)) return undefined;
      const slice = refcounts.sliceOf(this.#cursor);
      if (slice instanceof Promise) {
        // It is asked for again, by who waits; a failure is told there.
        slice.catch(() => {});
        return undefined;
      }
      const { perSlice } = refcounts;
      const last = Math.floor(this.#cursor / perSlice) * perSlice + perSlice;
      let first = this.#cursor;
      while (first < last && refcounts.getIn(slice, first) !== 0) first++;
      this.#cursor = first;
      if (first === last) continue;
      const stop = Math.min(last, first + most);
      let end = first;
      while (end < stop && refcounts.getIn(slice, end) === 0) refcounts.setIn(slice, end++, 1);
      return this.#taken(first, end - first);
    }
  }

  #taken(first: number, clusters: number): Taken {
    const fresh = first >= this.#end;
    this.#end = Math.max(this.#end, first + clusters);
    if (first === this.#cursor) this.#cursor = first + clusters;
    return { offset: first * this.refcounts.clusterSize, clusters, fresh };
  }

  async #takeSlowly(most: number): Promise<Taken> {
    for (;;) {
      const taken = this.#tryTake(most);
      if (taken) return taken;
      const at = this.#cursor;
      if (this.refcounts.hasBlock(at)) await this.refcounts.sliceOf(at);
      else await this.#makeBlock(at);
    }
  }

  /** After everything: a row of many is for a large table, and seldom asked for. */
  async #takeRow(clusters: number): Promise<number> {
    const { refcounts } = this;
    let first = Math.max(this.#end, this.#cursor);
    for (let at = first; at < first + clusters; ) {
      if (!refcounts.hasBlock(at)) {
        await this.#makeBlock(at);
        // The new block lies in its own range.
        first = Math.max(first, this.#end);
        at = first;
        continue;
      }
      if ((await refcounts.get(at)) !== 0) first = at + 1;
      at++;
    }
    for (let at = first; at < first + clusters; at++) await refcounts.change(at, 1);
    return this.#taken(first, clusters).offset;
  }

  /** A block for the range of `cluster`, in the first cluster of that range. Written before the table points to it. */
  async #makeBlock(cluster: number): Promise<void> {
    const { refcounts } = this;
    const { clusterSize, perBlock, table, file } = refcounts;
    const index = Math.floor(cluster / perBlock);
    if (index >= table.length) return await this.#growTable(index);
    if (index === 0) throw corrupt(file, 'no refcount block counts the cluster of the header', 0);
    const bytes = new Uint8Array(clusterSize);
    const codec = refcountCodec(this.#refcountBits);
    codec.set(new DataView(bytes.buffer), 0, 1);
    const offset = index * perBlock * clusterSize;
    await this.#host.writeTable('a new refcount block', offset, bytes);
    table.set(index, offset);
    this.#host.addBlock(offset);
    this.#end = Math.max(this.#end, index * perBlock + 1);
  }

  /**
   * A table of more entries, in the first clusters that the old one could not count, with the blocks that count it.
   * All is written before the header points to it.
   */
  async #growTable(index: number): Promise<void> {
    const { clusterSize, perBlock, table, file } = this.refcounts;
    const old = { offset: table.offset, clusters: (table.length * 8) / clusterSize };
    const first = table.length * perBlock;
    let clusters = Math.ceil((Math.max(index + 1, table.length * 1.5) * 8) / clusterSize);
    let blocks = 0;
    // Blocks count the table and themselves, and the table has entries for them.
    for (;;) {
      const needed = Math.ceil((clusters + blocks) / perBlock);
      const entries = table.length + needed;
      if (needed === blocks && entries * 8 <= clusters * clusterSize) break;
      blocks = needed;
      clusters = Math.max(clusters, Math.ceil((entries * 8) / clusterSize));
    }
    if (clusters * clusterSize > maxTableBytes.refcount) {
      const text = `qcow2 image ${file.path}: a refcount table of ${clusters * clusterSize} bytes is more than any program opens (${maxTableBytes.refcount}): the file cannot grow; use larger clusters or narrower refcounts`;
      throw new BlockError('EFBIG', text, { driver: 'qcow2', path: file.path || undefined });
    }
    const codec = refcountCodec(this.#refcountBits);
    const bytes = new Uint8Array(clusters * clusterSize);
    bytes.set(table.bytes());
    const offset = first * clusterSize;
    const larger = new RefcountTable(offset, bytes);
    for (let i = 0; i < blocks; i++) {
      const block = new Uint8Array(clusterSize);
      const used = Math.min(perBlock, clusters + blocks - i * perBlock);
      for (let at = 0; at < used; at++) codec.set(new DataView(block.buffer), at, 1);
      const place = (first + clusters + i) * clusterSize;
      larger.set(table.length + i, place);
      await this.#host.writeTable('a new refcount block', place, block);
    }
    await this.#host.writeTable('the new refcount table', offset, bytes);
    await this.#host.switchRefcountTable(offset, bytes);
    for (let i = 0; i < blocks; i++) this.#host.addBlock((first + clusters + i) * clusterSize);
    this.#end = Math.max(this.#end, first + clusters + blocks);
    await this.free(old.offset, old.clusters);
  }
}
