import type { BlockError } from '@blockyard/core';
import type { LostBytes, LostRange } from './result.ts';

/** A disk that is unreadable in more places than this is described by its sum only. */
const mostRanges = 10_000;
/** Kept meanwhile: what joins two of them comes a few requests later. */
const mostKept = 4 * mostRanges;

/** What could not be read, as ranges that are joined as soon as they touch, whatever the order they come in. */
export class LostRanges {
  /** In the order of the disk. */
  readonly #ranges: LostRange[] = [];
  #bytes = 0;
  /** What begins here or later is only counted. */
  #limit = Number.POSITIVE_INFINITY;

  add(offset: number, length: number, error: BlockError): void {
    this.#bytes += length;
    if (offset >= this.#limit) return;
    const ranges = this.#ranges;
    const at = this.#after(offset);
    const before = ranges[at - 1];
    const next = ranges[at];
    const joinsNext = next !== undefined && offset + length === next.offset;
    if (before && before.offset + before.length === offset) {
      before.length += length + (joinsNext ? next.length : 0);
      if (joinsNext) ranges.splice(at, 1);
    } else if (joinsNext) ranges[at] = { offset, length: length + next.length, reason: error.message };
    else {
      ranges.splice(at, 0, { offset, length, reason: error.message });
      if (ranges.length > mostKept) this.#limit = (ranges.pop() as LostRange).offset;
    }
  }

  summary(): LostBytes {
    const ranges = this.#ranges.slice(0, mostRanges);
    const complete = this.#ranges.length <= mostRanges && this.#limit === Number.POSITIVE_INFINITY;
    return { bytes: this.#bytes, ranges, complete };
  }

  /** The index of the first range that begins after `offset`; mostly there is none. */
  #after(offset: number): number {
    let [low, high] = [0, this.#ranges.length];
    if (high > 0 && (this.#ranges[high - 1] as LostRange).offset < offset) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle] as LostRange).offset < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
