import { viewOf } from '../bytes.ts';
import { putEntry, zeroFlag } from '../table-entry.ts';

const all = 0xffffffff;

/** Writes entries of an L2 table that is not in use yet. */
export class EntryWriter {
  readonly #view: DataView;
  readonly #extended: boolean;

  constructor(table: Uint8Array, extended: boolean) {
    this.#view = viewOf(table);
    this.#extended = extended;
  }

  /** A cluster of its own, with data from its start to its end. */
  data(index: number, place: number): void {
    putEntry(this.#view, this.#at(index), place, true);
    this.#bits(index, 0, all);
  }

  /** A cluster of its own for what has no data yet: `zero` hides what is behind; the other needs subclusters. */
  empty(index: number, place: number, zero: boolean): void {
    putEntry(this.#view, this.#at(index), place, true, zero && !this.#extended ? zeroFlag : 0);
    this.#bits(index, zero ? all : 0, 0);
  }

  /** Zeroes without a cluster. */
  zero(index: number): void {
    putEntry(this.#view, this.#at(index), 0, false, this.#extended ? 0 : zeroFlag);
    this.#bits(index, all, 0);
  }

  #at(index: number): number {
    return index * (this.#extended ? 16 : 8);
  }

  #bits(index: number, zeroes: number, allocated: number): void {
    if (!this.#extended) return;
    this.#view.setUint32(this.#at(index) + 8, zeroes);
    this.#view.setUint32(this.#at(index) + 12, allocated);
  }
}

export const isEmpty = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
