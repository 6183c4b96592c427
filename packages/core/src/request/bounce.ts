import { byteLength, copyFrom, copyTo } from '@blockyard/iov-utils';
import { alignDown, alignUp } from './align.ts';
import type { ReadOptions, WriteOptions } from './options.ts';
import type { Piece } from './pieces.ts';
import type { Target } from './target.ts';

/** Reads a piece through aligned memory, widened to the request alignment. */
export async function readBounced(target: Target, piece: Piece, options: ReadOptions): Promise<void> {
  const { requestAlignment, optMemAlignment } = target.limits;
  const length = byteLength(piece.data);
  const start = alignDown(piece.offset, requestAlignment);
  const span = alignUp(piece.offset + length, requestAlignment) - start;
  const buffer = target.memory.allocate(span, optMemAlignment);
  try {
    await target.readDriver(start, buffer, options);
    copyFrom(piece.data, buffer.subarray(piece.offset - start, piece.offset - start + length));
  } finally {
    target.memory.release(buffer);
  }
  target.stats.bounces++;
  target.stats.bouncedBytes += length;
}

/**
 * Writes a piece through aligned memory. Where it does not fill whole blocks, the blocks at its ends are read first;
 * the caller holds the range, so that nobody writes there in between.
 */
export async function writeBounced(target: Target, piece: Piece, options: WriteOptions): Promise<void> {
  const { requestAlignment, optMemAlignment } = target.limits;
  const length = byteLength(piece.data);
  const start = alignDown(piece.offset, requestAlignment);
  const dataEnd = piece.offset + length;
  const span = alignUp(dataEnd, requestAlignment) - start;
  const buffer = target.memory.allocate(span, optMemAlignment);
  try {
    const last = span - requestAlignment;
    if (piece.offset > start) await target.readDriver(start, buffer.subarray(0, requestAlignment), options);
    if (dataEnd < start + span && !(last === 0 && piece.offset > start)) {
      await target.readDriver(start + last, buffer.subarray(last), options);
    }
    copyTo(piece.data, buffer.subarray(piece.offset - start, piece.offset - start + length));
    await target.writeDriver(start, buffer, options);
  } finally {
    target.memory.release(buffer);
  }
  target.stats.bounces++;
  target.stats.bouncedBytes += length;
}
