import type { BlockNode, MaybePromise } from '@blockyard/core';
import type { Mapping } from '../mapping.ts';
import type { Reader } from '../reader.ts';
import { kinds, newRun, readsBacking } from '../run.ts';

const noOptions = {};

/** Copy on write: the bytes that a cluster shows beside those that are written to it. */
export class Surroundings {
  readonly #file: BlockNode;
  readonly #backing: BlockNode | undefined;
  readonly #mapping: Mapping;
  readonly #reader: Reader;
  readonly #size: () => number;
  readonly #run = newRun();

  constructor(
    file: BlockNode,
    backing: BlockNode | undefined,
    mapping: Mapping,
    reader: Reader,
    size: () => number,
  ) {
    this.#file = file;
    this.#backing = backing;
    this.#mapping = mapping;
    this.#reader = reader;
    this.#size = size;
  }

  /**
   * What the disk shows from `start` to `end` now, in memory to be released; undefined when there is nothing, or, with
   * `blank`, when it is zeroes.
   */
  read(start: number, end: number, blank: boolean): MaybePromise<Uint8Array | undefined> {
    if (start >= end) return undefined;
    const zero = this.#isZero(start, end);
    if (zero && blank) return undefined;
    const bytes = this.#file.memory.allocate(end - start, this.#file.limits.optMemAlignment);
    if (zero) return bytes.fill(0);
    // A cluster may go on after the end of the disk.
    const have = Math.max(0, Math.min(end, this.#size()) - start);
    bytes.fill(0, have);
    if (have === 0) return bytes;
    const reading = this.#reader.read(start, have, bytes.subarray(0, have), noOptions);
    if (!(reading instanceof Promise)) return bytes;
    return reading.then(
      () => bytes,
      (error: unknown) => {
        this.#file.memory.release(bytes);
        throw error;
      },
    );
  }

  release(bytes: Uint8Array | undefined): void {
    if (bytes) this.#file.memory.release(bytes);
  }

  /** So far as it can be told without waiting. */
  #isZero(start: number, end: number): boolean {
    const run = this.#run;
    const last = Math.min(end, this.#size());
    for (let at = start; at < last; at += run.length) {
      if (this.#mapping.find(at, last - at, run)) return false;
      if (run.kind === kinds.zero || run.kind === kinds.zeroPlaced) continue;
      if (!readsBacking(run.kind)) return false;
      if (this.#backing && at < this.#backing.size) return false;
    }
    return true;
  }
}
