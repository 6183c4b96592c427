import type { IoData } from '@blockyard/iov-utils';
import { readBounced, writeBounced } from './bounce.ts';
import type { ReadOptions, WriteOptions } from './options.ts';
import { inParallel } from './parallel.ts';
import { pieces } from './pieces.ts';
import type { Target } from './target.ts';

/** Pieces of one request that are under way together: enough to keep a disk busy, bounded in memory. */
const width = 4;

/** A read that the driver cannot take as it is, made of ones that it can. */
export async function readPieces(
  target: Target,
  offset: number,
  into: IoData,
  options: ReadOptions,
): Promise<void> {
  const cut = pieces(offset, into, target.limits, target.memoryMatters ? target.memory : undefined);
  target.stats.splits += cut.length - 1;
  await inParallel(cut, Math.min(width, cut.length), (piece) => {
    options.signal?.throwIfAborted();
    return piece.bounce
      ? readBounced(target, piece, options)
      : target.readDriver(piece.offset, piece.data, options);
  });
}

/** A write that the driver cannot take as it is, made of ones that it can. The caller holds the range. */
export async function writePieces(
  target: Target,
  offset: number,
  from: IoData,
  options: WriteOptions,
): Promise<void> {
  const cut = pieces(offset, from, target.limits, target.memoryMatters ? target.memory : undefined);
  target.stats.splits += cut.length - 1;
  await inParallel(cut, Math.min(width, cut.length), (piece) => {
    options.signal?.throwIfAborted();
    return piece.bounce
      ? writeBounced(target, piece, options)
      : target.writeDriver(piece.offset, piece.data, options);
  });
}
