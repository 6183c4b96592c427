/** The same numbers for the same seed. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0 || 1;
  }
  /** A whole number below `limit`. */
  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state = (this.#state ^ (this.#state << 5)) >>> 0;
    return this.#state % limit;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}
