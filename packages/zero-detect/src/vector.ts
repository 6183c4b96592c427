import { scan } from '#scan';

/** Scans a vector, keeping its place: ranges must be asked in rising order of `from`, and cost no search. */
export class VectorScanner {
  readonly #vector: readonly Uint8Array[];
  #index = 0;
  #base = 0;

  constructor(vector: readonly Uint8Array[]) {
    this.#vector = vector;
  }

  /** The index of the first byte in [from, to) that is not zero, or -1. */
  find(from: number, to: number): number {
    let index = this.#index;
    let base = this.#base;
    for (; base < to && index < this.#vector.length; index++) {
      const element = this.#vector[index] as Uint8Array;
      const end = base + element.length;
      if (end <= from) {
        this.#index = index + 1;
        this.#base = end;
      } else {
        const at = scan(element, Math.max(from - base, 0), Math.min(to - base, element.length));
        if (at !== -1) return base + at;
      }
      base = end;
    }
    return -1;
  }
}
