import type { BlockNode } from '@blockyard/core';
import { viewOf } from './bytes.ts';
import { truncated } from './failure.ts';

/** A piece of a table: as it is in the file, or as it will be after the next commit. */
export interface Slice {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Changed since it was last taken to be written. */
  dirty: boolean;
  /** A copy of it is on its way to the file: reading it anew could give what was there before. */
  writing: boolean;
  /** How often slices had been taken to be written when it was read. */
  readonly takes: number;
  newer: Slice | undefined;
  older: Slice | undefined;
}

/** Slices are no larger than this, so that one random read costs one page, not one cluster. */
export const maxSliceBytes = 4096;
const fewest = 16;

/**
 * Slices of tables by offset, the least recently used leaving when `budget` bytes are full. A hit allocates nothing;
 * a slice that several requests miss at once is loaded once. What is changed stays until it is written.
 */
export class MetadataCache {
  readonly sliceBytes: number;
  readonly #what: string;
  readonly #file: BlockNode;
  readonly #most: number;
  readonly #slices = new Map<number, Slice>();
  readonly #loading = new Map<number, Promise<Slice>>();
  #dirty: Slice[] = [];
  #takes = 0;
  #newest: Slice | undefined;
  #oldest: Slice | undefined;
  /** Slices read from the file so far. */
  loads = 0;

  /** Bytes of slices that are kept at most, but for changed ones. */
  get budget(): number {
    return this.#most * this.sliceBytes;
  }

  readonly #whole: boolean;

  /** `whole`: what the end of the file cuts off of a slice is zeroes; else the slice is so much shorter. */
  constructor(what: string, file: BlockNode, clusterSize: number, budget: number, whole = false) {
    this.#what = what;
    this.#whole = whole;
    this.#file = file;
    this.sliceBytes = Math.min(maxSliceBytes, clusterSize);
    this.#most = Math.max(fewest, Math.floor(budget / this.sliceBytes));
  }

  get bytes(): number {
    return this.#slices.size * this.sliceBytes;
  }

  get dirty(): boolean {
    return this.#dirty.length > 0;
  }

  /** So much is changed that little room is left for anything else: time to commit. */
  get pressed(): boolean {
    return this.#dirty.length > this.#most / 2;
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

  /**
   * Puts back what `load` gave, if it has left since: where many wait for slices, and few have room, each would be
   * driven out by the others before its turn comes, for ever. False when it may not be what the file has now.
   */
  keep(slice: Slice): boolean {
    const { offset, takes } = slice;
    if (takes !== this.#takes || this.#slices.has(offset) || this.#loading.has(offset)) return false;
    this.#insert(slice);
    return true;
  }

  /** A new table begins at `offset`: what was there before is nobody's. */
  forget(offset: number, bytes: number): void {
    for (let at = offset; at < offset + bytes; at += this.sliceBytes) {
      const slice = this.#slices.get(at);
      if (!slice) continue;
      this.#unlink(slice);
      this.#slices.delete(at);
    }
  }

  /** A slice of which the caller is going to change bytes at once, before anything else runs. */
  touch(slice: Slice): void {
    if (slice.dirty) return;
    slice.dirty = true;
    this.#dirty.push(slice);
  }

  /** The changed slices, which are unchanged from now on, and stay here until they are `written` or `kept`. */
  take(): Slice[] {
    const taken = this.#dirty;
    this.#dirty = [];
    this.#takes++;
    for (const slice of taken) {
      slice.dirty = false;
      slice.writing = true;
    }
    return taken;
  }

  written(slices: readonly Slice[]): void {
    for (const slice of slices) slice.writing = false;
    this.#shrink();
  }

  /** They could not be written: they are as changed as they were. */
  kept(slices: readonly Slice[]): void {
    for (const slice of slices) {
      slice.writing = false;
      this.touch(slice);
    }
  }

  clear(): void {
    this.#slices.clear();
    this.#dirty = [];
    this.#takes++;
    this.#newest = this.#oldest = undefined;
  }

  #load(offset: number): Slice | Promise<Slice> {
    const { size } = this.#file;
    // The file may end inside a table's cluster; what is missing is found missing when it is needed.
    if (offset >= size) throw truncated(this.#file, `a part of ${this.#what}`, offset, size);
    const have = Math.min(this.sliceBytes, size - offset);
    const bytes = new Uint8Array(this.#whole ? this.sliceBytes : have);
    this.loads++;
    const links = { newer: undefined, older: undefined };
    const slice = {
      offset,
      bytes,
      view: viewOf(bytes),
      dirty: false,
      writing: false,
      takes: this.#takes,
      ...links,
    };
    const read = this.#file.read(offset, have < bytes.length ? bytes.subarray(0, have) : bytes);
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
    this.#shrink();
    return slice;
  }

  /** Drops the oldest; those that may not go are made new, so that they are not looked at again and again. */
  #shrink(): void {
    for (let looked = 0; this.#slices.size > this.#most && looked < 8; looked++) {
      const oldest = this.#oldest as Slice;
      this.#unlink(oldest);
      if (oldest.dirty || oldest.writing) this.#link(oldest);
      else this.#slices.delete(oldest.offset);
    }
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
