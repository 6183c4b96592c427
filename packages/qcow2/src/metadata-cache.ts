import type { BlockNode } from '@blockyard/core';
import { viewOf } from './bytes.ts';
import { truncated } from './failure.ts';

/** A piece of a table as it is in the file. */
export interface Slice {
  readonly offset: number;
  readonly view: DataView;
  newer: Slice | undefined;
  older: Slice | undefined;
}

/** Slices are no larger than this, so that one random read costs one page, not one cluster. */
export const maxSliceBytes = 4096;
const fewest = 16;

/**
 * Slices of L2 tables by offset, the least recently used leaving when `budget` bytes are full. A hit allocates
 * nothing; a slice that several requests miss at once is loaded once.
 */
export class L2Cache {
  readonly sliceBytes: number;
  readonly #file: BlockNode;
  readonly #most: number;
  readonly #slices = new Map<number, Slice>();
  readonly #loading = new Map<number, Promise<Slice>>();
  #newest: Slice | undefined;
  #oldest: Slice | undefined;
  /** Slices read from the file so far. */
  loads = 0;

  /** Bytes of slices that are kept at most. */
  get budget(): number {
    return this.#most * this.sliceBytes;
  }

  constructor(file: BlockNode, clusterSize: number, budget: number) {
    this.#file = file;
    this.sliceBytes = Math.min(maxSliceBytes, clusterSize);
    this.#most = Math.max(fewest, Math.floor(budget / this.sliceBytes));
  }

  get bytes(): number {
    return this.#slices.size * this.sliceBytes;
  }

  /** The slice, if it is here: that counts as a use. */
  hit(offset: number): Slice | undefined {
    const slice = this.#slices.get(offset);
    if (slice !== undefined && slice !== this.#newest) {
      this.#unlink(slice);
      this.#link(slice);
    }
    return slice;
  }

  /** The slice from the file, after `hit` did not find it. */
  load(offset: number): Slice | Promise<Slice> {
    return this.#loading.get(offset) ?? this.#load(offset);
  }

  clear(): void {
    this.#slices.clear();
    this.#newest = this.#oldest = undefined;
  }

  #load(offset: number): Slice | Promise<Slice> {
    const { size } = this.#file;
    // The file may end inside a table's cluster; what is missing is found missing when it is needed.
    if (offset >= size) throw truncated(this.#file, 'a part of an L2 table', offset, size);
    const bytes = new Uint8Array(Math.min(this.sliceBytes, size - offset));
    this.loads++;
    const slice = { offset, view: viewOf(bytes), newer: undefined, older: undefined };
    const read = this.#file.read(offset, bytes);
    if (!(read instanceof Promise)) return this.#insert(slice);
    const loading = read.then(
      () => {
        this.#loading.delete(offset);
        return this.#insert(slice);
      },
      (error: unknown) => {
        this.#loading.delete(offset);
        throw error;
      },
    );
    this.#loading.set(offset, loading);
    return loading;
  }

  #insert(slice: Slice): Slice {
    this.#slices.set(slice.offset, slice);
    this.#link(slice);
    if (this.#slices.size > this.#most && this.#oldest) {
      this.#slices.delete(this.#oldest.offset);
      this.#unlink(this.#oldest);
    }
    return slice;
  }

  #link(slice: Slice): void {
    slice.older = this.#newest;
    if (this.#newest) this.#newest.newer = slice;
    this.#newest = slice;
    this.#oldest ??= slice;
  }

  #unlink(slice: Slice): void {
    if (slice.newer) slice.newer.older = slice.older;
    else this.#newest = slice.older;
    if (slice.older) slice.older.newer = slice.newer;
    else this.#oldest = slice.newer;
    slice.newer = slice.older = undefined;
  }
}
