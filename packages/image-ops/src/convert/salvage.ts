import { alignDown, alignUp, BlockError, type BlockNode } from '@blockyard/core';
import { locate } from '../failure.ts';
import type { LostBytes, LostRange } from './result.ts';

/** No smaller piece is tried by itself: sectors fail whole. */
const sectorBytes = 512;
/** A disk that is unreadable in more places than this is described by its sum only. */
const mostRanges = 10_000;

/** Reads what can be read, and notes what cannot. */
export class Salvage {
  readonly #source: BlockNode;
  readonly #signal: AbortSignal | undefined;
  readonly #unit: number;
  readonly #ranges: LostRange[] = [];
  #bytes = 0;
  #complete = true;

  constructor(source: BlockNode, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
    this.#unit = Math.max(sectorBytes, source.limits.requestAlignment);
  }

  /** After a read of the whole has failed with `error`: halves, and halves of those that fail. */
  async read(offset: number, into: Uint8Array, error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!isOfMedium(error)) throw locate(error, this.#source, 'read', offset, into.byteLength);
    const { byteLength: length } = into;
    const middle = Math.min(
      alignUp(offset + Math.ceil(length / 2), this.#unit),
      alignDown(offset + length - 1, this.#unit),
    );
    if (middle <= offset) {
      into.fill(0);
      this.#note(offset, length, error);
      return;
    }
    // One after the other: a failing disk is not helped by more requests.
    for (const [from, to] of [
      [offset, middle],
      [middle, offset + length],
    ] as const) {
      const half = into.subarray(from - offset, to - offset);
      try {
        await this.#source.read(from, half, { signal: this.#signal });
      } catch (again) {
        await this.read(from, half, again);
      }
    }
  }

  summary(): LostBytes {
    const ranges: LostRange[] = [];
    for (const range of this.#ranges.toSorted((a, b) => a.offset - b.offset)) {
      const last = ranges.at(-1);
      if (last && last.offset + last.length === range.offset) last.length += range.length;
      else ranges.push({ ...range });
    }
    return { bytes: this.#bytes, ranges, complete: this.#complete };
  }

  #note(offset: number, length: number, error: BlockError): void {
    this.#bytes += length;
    const last = this.#ranges.at(-1);
    if (last && last.offset + last.length === offset) last.length += length;
    else if (this.#ranges.length < mostRanges) this.#ranges.push({ offset, length, reason: error.message });
    else this.#complete = false;
  }
}

/** A misuse, or a node that was closed, says nothing about the bytes. */
const isOfMedium = (error: unknown): error is BlockError =>
  error instanceof BlockError && (error.kind === 'system' || error.kind === 'image');
