import { alignDown, BlockError, type BlockNode, type MaybePromise } from '@blockyard/core';
import { corrupt } from '../failure.ts';
import { MetadataCache, type Slice } from '../metadata-cache.ts';
import { type RefcountCodec, refcountCodec } from './refcount-codec.ts';
import type { RefcountTable } from './refcount-table.ts';

export interface RefcountLayout {
  clusterSize: number;
  refcountBits: number;
}

const cacheBytes = 4 << 20;

/** How often each cluster of the file is referred to, by one refcount table. Changes are in memory until they are taken. */
export class Refcounts {
  readonly file: BlockNode;
  readonly clusterSize: number;
  readonly table: RefcountTable;
  readonly cache: MetadataCache;
  /** Clusters that one block counts. */
  readonly perBlock: number;
  readonly #codec: RefcountCodec;
  readonly #perSlice: number;

  constructor(file: BlockNode, layout: RefcountLayout, table: RefcountTable, budget = cacheBytes) {
    this.file = file;
    this.clusterSize = layout.clusterSize;
    this.table = table;
    this.#codec = refcountCodec(layout.refcountBits);
    this.cache = new MetadataCache('a refcount block', file, layout.clusterSize, budget, true);
    this.perBlock = (layout.clusterSize * 8) / layout.refcountBits;
    this.#perSlice = (this.cache.sliceBytes * 8) / layout.refcountBits;
  }

  /** Largest count that fits. */
  get max(): number {
    return this.#codec.max;
  }

  get perSlice(): number {
    return this.#perSlice;
  }

  /** 0 where there is no block. */
  get(cluster: number): MaybePromise<number> {
    if (!this.hasBlock(cluster)) return 0;
    const slice = this.sliceOf(cluster);
    return slice instanceof Promise
      ? slice.then((loaded) => this.getIn(loaded, cluster))
      : this.getIn(slice, cluster);
  }

  hasBlock(cluster: number): boolean {
    return this.table.at(Math.floor(cluster / this.perBlock)) !== 0;
  }

  /** The slice that counts the cluster, whose block there must be. After a promise, ask again: it may have left. */
  sliceOf(cluster: number): MaybePromise<Slice> {
    const block = this.table.at(Math.floor(cluster / this.perBlock));
    if (block % this.clusterSize !== 0)
      throw corrupt(this.file, `the refcount block at ${block} does not start at a cluster`, block);
    const inBlock = cluster % this.perBlock;
    const offset = block + Math.floor(inBlock / this.#perSlice) * this.cache.sliceBytes;
    return this.cache.hit(offset) ?? this.cache.load(offset);
  }

  getIn(slice: Slice, cluster: number): number {
    return this.#codec.get(slice.view, cluster % this.#perSlice);
  }

  setIn(slice: Slice, cluster: number, count: number): void {
    this.cache.touch(slice);
    this.#codec.set(slice.view, cluster % this.#perSlice, count);
  }

  /** One more or one less for every cluster that the bytes touch; all of them or, on an error, none. */
  async add(offset: number, bytes: number, delta: 1 | -1, freed?: (cluster: number) => void): Promise<void> {
    const first = Math.floor(offset / this.clusterSize);
    const last = Math.floor((offset + bytes - 1) / this.clusterSize);
    for (let cluster = first; cluster <= last; cluster++) {
      try {
        const left = await this.change(cluster, delta);
        if (left === 0) freed?.(cluster);
      } catch (error) {
        for (let done = first; done < cluster; done++) await this.change(done, -delta as 1 | -1);
        throw error;
      }
    }
  }

  /** The count afterwards. */
  change(cluster: number, delta: 1 | -1): MaybePromise<number> {
    if (!this.hasBlock(cluster)) throw this.#impossible(cluster, 0, delta);
    const slice = this.sliceOf(cluster);
    if (slice instanceof Promise) return slice.then(() => this.change(cluster, delta));
    const count = this.getIn(slice, cluster);
    if (delta < 0 && count === 0) throw this.#impossible(cluster, count, delta);
    if (delta > 0 && count >= this.max) {
      const text = `the cluster at ${cluster * this.clusterSize} is referred to ${count} times, the most that refcounts of this width hold; amend the image to wider ones (refcount_bits)`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { driver: 'qcow2', path: this.file.path || undefined });
    }
    this.setIn(slice, cluster, count + delta);
    return count + delta;
  }

  #impossible(cluster: number, count: number, delta: number): BlockError {
    const offset = cluster * this.clusterSize;
    const text = `the cluster at ${offset} is in use, and its refcount is ${count}`;
    return corrupt(this.file, delta < 0 ? `${text}, which cannot go down` : text, alignDown(offset, 512));
  }

  tableBytes(): Uint8Array {
    return this.table.bytes();
  }
}
