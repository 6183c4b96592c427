import type { Slice } from '../metadata-cache.ts';
import { zeroFlag } from '../table-entry.ts';
import type { Entries } from './entries.ts';
import type { Linker } from './linker.ts';

/** Changes one entry; `mask` are the subclusters that are meant, all of them without extended entries. */
export type Edit = (slice: Slice, index: number, mask: number) => void;

/** What becomes of an entry whose cluster is zeroed or discarded. Nothing here waits. */
export class ZeroEdits {
  readonly #entries: Entries;
  readonly #linker: Linker;
  readonly #hasBacking: boolean;

  constructor(entries: Entries, linker: Linker, hasBacking: boolean) {
    this.#entries = entries;
    this.#linker = linker;
    this.#hasBacking = hasBacking;
  }

  /** Reads as zeroes; a place that is this disk's stays. */
  readonly kept: Edit = (slice, index, mask) => {
    const entries = this.#entries;
    if (entries.isCompressed(slice, index)) return this.#withoutPlace(slice, index);
    if (!entries.extended) {
      const lo = entries.lo(slice, index);
      if (!(lo & zeroFlag)) entries.setRaw(slice, index, entries.hi(slice, index), lo + zeroFlag);
      return;
    }
    const zeroes = (entries.zeroes(slice, index) | mask) >>> 0;
    const allocated = (entries.allocated(slice, index) & ~mask) >>> 0;
    if (zeroes !== entries.zeroes(slice, index) || allocated !== entries.allocated(slice, index))
      entries.setBits(slice, index, zeroes, allocated);
  };

  /** Reads as zeroes; a whole cluster loses its place. */
  readonly unmapped: Edit = (slice, index, mask) => {
    const entries = this.#entries;
    const wholeCluster = !entries.extended || mask === 0xffffffff;
    if (!wholeCluster) return this.kept(slice, index, mask);
    const placed = entries.isPlaced(slice, index) || entries.isCompressed(slice, index);
    if (placed || !this.#isZero(slice, index)) this.#withoutPlace(slice, index);
  };

  #withoutPlace(slice: Slice, index: number): void {
    const entries = this.#entries;
    const linker = this.#linker;
    linker.giveUp(slice, index, 'request');
    entries.setRaw(slice, index, 0, entries.extended ? 0 : zeroFlag);
    if (entries.extended) entries.setBits(slice, index, 0xffffffff, 0);
  }

  readonly keptIfData: Edit = (slice, index, mask) => {
    const entries = this.#entries;
    const hasBacking = this.#hasBacking;
    if (hasBacking || entries.isPlaced(slice, index) || entries.isCompressed(slice, index))
      this.kept(slice, index, mask);
  };

  readonly discarded: Edit = (slice, index, mask) => {
    const entries = this.#entries;
    const hasBacking = this.#hasBacking;
    if (hasBacking || entries.isPlaced(slice, index) || entries.isCompressed(slice, index))
      this.unmapped(slice, index, mask);
  };

  /** Shows what is behind. */
  readonly dropped: Edit = (slice, index) => {
    const entries = this.#entries;
    const linker = this.#linker;
    if (entries.hi(slice, index) === 0 && entries.lo(slice, index) === 0) return;
    linker.giveUp(slice, index, 'request');
    entries.setRaw(slice, index, 0, 0);
    if (entries.extended) entries.setBits(slice, index, 0, 0);
  };

  #isZero(slice: Slice, index: number): boolean {
    const entries = this.#entries;
    return entries.extended
      ? entries.zeroes(slice, index) === 0xffffffff
      : (entries.lo(slice, index) & zeroFlag) !== 0;
  }
}
