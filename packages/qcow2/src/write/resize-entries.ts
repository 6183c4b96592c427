import { viewOf } from '../bytes.ts';
import { copiedFlag } from '../l1.ts';
import { zeroFlag } from './entries.ts';

const all = 0xffffffff;
const high = 2 ** 32;

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
    this.#set(index, (Math.floor(place / high) | copiedFlag) >>> 0, place % high, 0, all);
  }

  /** A cluster of its own for what has no data yet: `zero` hides what is behind; the other needs subclusters. */
  empty(index: number, place: number, zero: boolean): void {
    const flag = zero && !this.#extended ? zeroFlag : 0;
    this.#set(index, (Math.floor(place / high) | copiedFlag) >>> 0, (place % high) + flag, zero ? all : 0, 0);
  }

  /** Zeroes without a cluster. */
  zero(index: number): void {
    this.#set(index, 0, this.#extended ? 0 : zeroFlag, all, 0);
  }

  #set(index: number, hi: number, lo: number, zeroes: number, allocated: number): void {
    const at = index * (this.#extended ? 16 : 8);
    this.#view.setUint32(at, hi);
    this.#view.setUint32(at + 4, lo);
    if (!this.#extended) return;
    this.#view.setUint32(at + 8, zeroes);
    this.#view.setUint32(at + 12, allocated);
  }
}

export const isEmpty = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
