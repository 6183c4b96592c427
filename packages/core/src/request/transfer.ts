import type { IoData } from '@blockyard/iov-utils';
import { readBounced, writeBounced } from './bounce.ts';
import type { MaybePromise, ReadOptions, RequestOptions, WriteOptions } from './options.ts';
import { inParallel } from './parallel.ts';
import { type Piece, pieces } from './pieces.ts';
import type { Target } from './target.ts';

/** Pieces of one request that are under way together: enough to keep a disk busy, bounded in memory. */
const width = 4;

/** A read that the driver cannot take as it is, made of ones that it can. */
export const readPieces = (
  target: Target,
  offset: number,
  into: IoData,
  options: ReadOptions,
): Promise<void> =>
  inPieces(target, offset, into, options, (piece) =>
    piece.bounce ? readBounced(target, piece, options) : target.readDriver(piece.offset, piece.data, options),
  );

/** A write that the driver cannot take as it is, made of ones that it can. The caller holds the range. */
export const writePieces = (
  target: Target,
  offset: number,
  from: IoData,
  options: WriteOptions,
): Promise<void> =>
  inPieces(target, offset, from, options, (piece) =>
    piece.bounce
      ? writeBounced(target, piece, options)
      : target.writeDriver(piece.offset, piece.data, options),
  );

async function inPieces(
  target: Target,
  offset: number,
  data: IoData,
  { signal }: RequestOptions,
  work: (piece: Piece) => MaybePromise<void>,
): Promise<void> {
  const cut = pieces(offset, data, target.limits, target.memoryMatters ? target.memory : undefined);
  target.stats.splits += cut.length - 1;
  await inParallel(cut, Math.min(width, cut.length), (piece) => {
    signal?.throwIfAborted();
    return work(piece);
  });
}
