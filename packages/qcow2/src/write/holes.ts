import type { BlockNode } from '@blockyard/core';
import type { Mapping } from '../mapping.ts';
import { kinds, newRun, readsBacking } from '../run.ts';

/** Finds out, from tables alone, what is known to read as zeroes. */
export class Holes {
  readonly #mapping: Mapping;
  readonly #backing: BlockNode | undefined;

  constructor(mapping: Mapping, backing: BlockNode | undefined) {
    this.#mapping = mapping;
    this.#backing = backing;
  }

  /** Whether no data is stored there in this image, and nothing but zeroes behind it. */
  async has(start: number, end: number): Promise<boolean> {
    const run = newRun();
    for (let at = start; at < end; at += run.length) {
      let wait = this.#mapping.find(at, end - at, run);
      while (wait) wait = this.#mapping.find(at, end - at, run, await wait);
      if (run.kind === kinds.zero || run.kind === kinds.zeroPlaced) continue;
      if (!readsBacking(run.kind)) return false;
      if (!(await this.#behind(at, run.length))) return false;
    }
    return true;
  }

  async #behind(offset: number, length: number): Promise<boolean> {
    const backing = this.#backing;
    if (!backing) return true;
    const end = Math.min(offset + length, backing.size);
    for (let at = offset; at < end; ) {
      const { zero, length: told } = await backing.blockStatus(at, end - at);
      if (!zero) return false;
      at += told;
    }
    return true;
  }
}
