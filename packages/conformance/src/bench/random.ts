/** A prime, so that no two blocks of a disk filled from the table are the same. */
const tableBytes = 65_521;

/** A repeatable source of numbers (xorshift32): the same seed gives the same run. */
export class Random {
  #state: number;
  #table: Uint8Array | undefined;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state / 2 ** 32;
  }

  /** A whole number from 0 up to and without `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Bytes of which none is zero: zeroes in the wrong place show. */
  bytes(length: number): Uint8Array {
    this.#table ??= Uint8Array.from({ length: tableBytes }, () => 1 + this.below(255));
    const bytes = new Uint8Array(length);
    let from = this.below(tableBytes);
    for (let at = 0; at < length; from = 0) {
      const part = this.#table.subarray(from, from + length - at);
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}
