import { viewOf } from './bytes.ts';

const high = 2 ** 32;

/** Bits 9 to 55 of an L1 or L2 entry: a cluster's offset. May lie above 2^53, where no file reaches. */
export const entryOffset = (hi: number, lo: number): number =>
  (hi & 0x00ffffff) * high + ((lo & 0xfffffe00) >>> 0);

/**
 * "L1 table": for each part of the disk that one L2 table covers, where that table is. Kept whole: it is small against
 * the file that holds it, and a lookup must not wait for it.
 */
export class L1Table {
  readonly length: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = viewOf(bytes);
    this.length = Math.floor(bytes.length / 8);
  }

  /** Offset of the L2 table; 0 where there is none. */
  at(index: number): number {
    return entryOffset(this.#view.getUint32(index * 8), this.#view.getUint32(index * 8 + 4));
  }

  /** The first index from `index` on, and before `end`, that has an L2 table; `end` when there is none. */
  nextUsed(index: number, end: number): number {
    let at = index;
    while (at < end && this.at(at) === 0) at++;
    return at;
  }

  /** The offsets of all L2 tables, in no order. */
  used(): Float64Array {
    let count = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) count++;
    const found = new Float64Array(count);
    let next = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) found[next++] = this.at(i);
    return found;
  }
}
