import { alignDown, alignUp, BlockError, type BlockNode } from '@blockyard/core';
import { chainOf } from '../chain.ts';
import { locate } from '../failure.ts';
import { LostRanges } from './lost-ranges.ts';
import type { LostBytes } from './result.ts';

/** No smaller piece is tried by itself: sectors fail whole. */
const sectorBytes = 512;

/** Reads what can be read, and notes what cannot. */
export class Salvage {
  readonly #source: BlockNode;
  readonly #signal: AbortSignal | undefined;
  /** The least that is tried by itself: of a medium, and of an image that is damaged. */
  readonly #units: { system: number; image: number };
  readonly #lost = new LostRanges();

  constructor(source: BlockNode, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
    const sector = Math.max(sectorBytes, source.limits.requestAlignment);
    this.#units = { system: sector, image: Math.max(sector, unitOfImage(source)) };
  }

  /** After a read of the whole has failed with `error`: halves, and halves of those that fail. */
  async read(offset: number, into: Uint8Array, error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!isOfMedium(error)) throw locate(error, this.#source, 'read', offset, into.byteLength);
    const { byteLength: length } = into;
    const unit = this.#units[error.kind];
    const middle = Math.min(
      alignUp(offset + Math.ceil(length / 2), unit),
      alignDown(offset + length - 1, unit),
    );
    if (middle <= offset) {
      into.fill(0);
      this.#lost.add(offset, length, error);
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
    return this.#lost.summary();
  }
}

/** An entry of an image stands for its whole cluster, or a part of one: no smaller piece of it can be read. */
function unitOfImage(source: BlockNode): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { features, kind, children } of chainOf(source)) {
    const unit = features.subclusterSize ?? features.clusterSize;
    if (unit !== undefined) least = Math.min(least, unit);
    // What shows a part of another image may begin anywhere in its clusters.
    else if (kind !== 'protocol' && children.file?.kind !== 'protocol') return sectorBytes;
  }
  return Number.isFinite(least) ? least : sectorBytes;
}

/** A misuse, or a node that was closed, says nothing about the bytes. */
const isOfMedium = (error: unknown): error is BlockError & { kind: 'system' | 'image' } =>
  error instanceof BlockError && (error.kind === 'system' || error.kind === 'image');
