import type { MaybePromise } from '@blockyard/core';
import { truncated } from '../failure.ts';
import type { Image } from '../image.ts';
import type { Slice } from '../metadata-cache.ts';
import { compressedFlag, copiedFlag, entryOffset, putEntry } from '../table-entry.ts';
import { L2Tables } from './l2-tables.ts';

export const subclusters = 32;

/** Entries of the L2 tables, read and changed in memory. The table that holds them must be this disk's own. */
export class Entries {
  readonly clusterSize: number;
  readonly extended: boolean;
  /** The smallest part of the disk that has a state of its own: a subcluster, else a cluster. */
  readonly unit: number;
  readonly tables: L2Tables;
  readonly #image: Image;
  readonly #entryBytes: number;
  readonly #perTable: number;
  readonly #perSlice: number;

  constructor(image: Image) {
    const { clusterSize, extendedL2 } = image.header;
    this.#image = image;
    this.clusterSize = clusterSize;
    this.extended = extendedL2;
    this.unit = extendedL2 ? clusterSize / subclusters : clusterSize;
    this.#entryBytes = extendedL2 ? 16 : 8;
    this.#perTable = clusterSize / this.#entryBytes;
    this.#perSlice = image.cache.sliceBytes / this.#entryBytes;
    this.tables = new L2Tables(image);
  }

  /** Bytes of the disk that one L2 table covers. */
  get coverage(): number {
    return this.#perTable * this.clusterSize;
  }

  l1Index(offset: number): number {
    return Math.floor(offset / this.coverage);
  }

  /**
   * The slice with the entry for `offset`, in a table that is this disk's own. After a promise, ask again at once, with
   * what it gave.
   */
  slice(offset: number, loaded?: Slice): MaybePromise<Slice> {
    const making = this.tables.own(this.l1Index(offset));
    if (making) return making.then(() => this.slice(offset));
    const at = this.#sliceOffset(offset);
    const { cache } = this.#image;
    const slice = cache.hit(at) ?? (loaded?.offset === at && cache.keep(loaded) ? loaded : cache.load(at));
    return slice instanceof Promise ? slice : this.#reaching(slice, offset);
  }

  /** The same if that needs no waiting, and what is there is this disk's own. */
  hit(offset: number): Slice | undefined {
    const { l1 } = this.#image;
    const index = this.l1Index(offset);
    const table = l1.at(index);
    // A table off its place could find another table's slices there.
    if (table === 0 || table % this.clusterSize !== 0 || !l1.isCopied(index)) return undefined;
    const slice = this.#image.cache.hit(this.#sliceOffset(offset));
    return slice && this.#reaching(slice, offset);
  }

  /** The end of the file may cut a slice short, and the entry off. */
  #reaching(slice: Slice, offset: number): Slice {
    if (this.left(slice, this.index(offset)) > 0) return slice;
    const { file } = this.#image;
    throw truncated(
      file,
      `the entry for ${offset} of the L2 table`,
      slice.offset + slice.bytes.length,
      file.size,
    );
  }

  /** Does `work` with the slice as soon as it is here, and at once: after any wait it may have left memory again. */
  async with<T>(offset: number, work: (slice: Slice) => T): Promise<T> {
    for (let loaded: Slice | undefined; ; ) {
      const slice = this.hit(offset) ?? this.slice(offset, loaded);
      if (!(slice instanceof Promise)) return work(slice);
      loaded = await slice;
    }
  }

  index(offset: number): number {
    return Math.floor(offset / this.clusterSize) % this.#perSlice;
  }

  /** Entries from `index` to the end of the slice, or of the file that cuts it short. */
  left(slice: Slice, index: number): number {
    return Math.floor(slice.bytes.length / this.#entryBytes) - index;
  }

  hi(slice: Slice, index: number): number {
    return slice.view.getUint32(index * this.#entryBytes);
  }
  lo(slice: Slice, index: number): number {
    return slice.view.getUint32(index * this.#entryBytes + 4);
  }
  /** Extended entries: bits of the subclusters that read as zeroes. */
  zeroes(slice: Slice, index: number): number {
    return slice.view.getUint32(index * 16 + 8);
  }
  /** Extended entries: bits of the subclusters that have data in the cluster. */
  allocated(slice: Slice, index: number): number {
    return slice.view.getUint32(index * 16 + 12);
  }

  /** Offset of the cluster, 0 without one. */
  place(slice: Slice, index: number): number {
    return entryOffset(this.hi(slice, index), this.lo(slice, index));
  }

  /** Whether the entry gives the cluster a place; in an external data file, 0 is one where the flag says so. */
  isPlaced(slice: Slice, index: number): boolean {
    const hi = this.hi(slice, index);
    if ((hi & compressedFlag) !== 0) return false;
    if (this.place(slice, index) !== 0) return true;
    return this.#image.header.externalData && (hi & copiedFlag) !== 0;
  }

  isCompressed(slice: Slice, index: number): boolean {
    return (this.hi(slice, index) & compressedFlag) !== 0;
  }
  isCopied(slice: Slice, index: number): boolean {
    return (this.hi(slice, index) & copiedFlag) !== 0;
  }

  /** A cluster at `place` of its own, `flags` in the low bits. */
  setPlace(slice: Slice, index: number, place: number, flags = 0): void {
    this.#image.cache.touch(slice);
    putEntry(slice.view, index * this.#entryBytes, place, true, flags);
  }

  setRaw(slice: Slice, index: number, hi: number, lo: number): void {
    this.#image.cache.touch(slice);
    slice.view.setUint32(index * this.#entryBytes, hi);
    slice.view.setUint32(index * this.#entryBytes + 4, lo);
  }

  setBits(slice: Slice, index: number, zeroes: number, allocated: number): void {
    this.#image.cache.touch(slice);
    slice.view.setUint32(index * 16 + 8, zeroes >>> 0);
    slice.view.setUint32(index * 16 + 12, allocated >>> 0);
  }

  #sliceOffset(offset: number): number {
    const index = this.l1Index(offset);
    const entry = Math.floor((offset - index * this.coverage) / this.clusterSize);
    return this.#image.l1.at(index) + (entry - (entry % this.#perSlice)) * this.#entryBytes;
  }
}
