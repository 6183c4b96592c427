import { BlockError } from '../errors.ts';
import { minNonZero } from '../limits.ts';
import { alignDown, alignUp } from './align.ts';
import type { MaybePromise, ZeroOptions } from './options.ts';
import { transferLimit } from './pieces.ts';
import type { Target } from './target.ts';
import { writePieces } from './transfer.ts';

/** The zero buffer that the fallback writes again and again is no larger than this. */
const zeroBufferBytes = 1 << 20;

const cannot = (error: unknown): boolean =>
  error instanceof BlockError && ['ERR_NOT_SUPPORTED', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code);

/**
 * Writes zeroes where the driver can do that without bytes, and falls back to bytes range by range: for the unaligned
 * ends, and where the driver says for one range that it cannot.
 */
export function zeroPieces(
  target: Target,
  offset: number,
  length: number,
  supported: boolean,
  options: ZeroOptions,
): MaybePromise<void> {
  const { limits } = target;
  const alignment = Math.max(limits.requestAlignment, limits.pwriteZeroesAlignment);
  const limit =
    alignDown(minNonZero(limits.maxPwriteZeroes, Number.MAX_SAFE_INTEGER), alignment) || alignment;
  const whole = offset % alignment === 0 && length % alignment === 0 && length <= limit;
  return supported && whole
    ? zeroPiece(target, offset, length, options)
    : cutAndZero(target, offset, length, supported, { alignment, limit }, options);
}

async function cutAndZero(
  target: Target,
  offset: number,
  length: number,
  supported: boolean,
  { alignment, limit }: { alignment: number; limit: number },
  options: ZeroOptions,
): Promise<void> {
  const end = offset + length;
  let at = offset;
  while (at < end) {
    options.signal?.throwIfAborted();
    const whole = alignUp(at, alignment);
    // The tail of a node whose size is not a multiple counts as whole: nothing follows it.
    const last = end === target.size ? end : alignDown(end, alignment);
    if (!supported || whole > at || last <= at) {
      const stop = !supported ? end : whole > at ? Math.min(end, whole) : end;
      await writeZeroBytes(target, at, stop - at, options);
      at = stop;
      continue;
    }
    const stop = Math.min(last, at + limit);
    await zeroPiece(target, at, stop - at, options);
    at = stop;
  }
}

/** A range that the driver may be asked for at once. */
function zeroPiece(target: Target, offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
  const fallBack = (error: unknown) => {
    if (options.noFallback || !cannot(error)) throw error;
    return writeZeroBytes(target, offset, length, options);
  };
  try {
    const work = target.writeZeroesDriver(offset, length, options);
    return work instanceof Promise ? work.catch(fallBack) : work;
  } catch (error) {
    return fallBack(error);
  }
}

async function writeZeroBytes(
  target: Target,
  offset: number,
  length: number,
  options: ZeroOptions,
): Promise<void> {
  if (options.noFallback) {
    throw new BlockError(
      'ERR_NOT_SUPPORTED',
      `cannot write zeroes at ${offset} without writing ${length} bytes`,
      {
        op: 'writeZeroes',
        offset,
        length,
      },
    );
  }
  target.stats.zeroFallbacks++;
  const step = minNonZero(zeroBufferBytes, transferLimit(target.limits));
  const size = alignUp(Math.min(step, length), target.limits.requestAlignment);
  const zeroes = target.memory.allocate(size, target.limits.optMemAlignment).fill(0);
  try {
    for (let at = offset, end = offset + length; at < end; ) {
      options.signal?.throwIfAborted();
      // Cuts lie on multiples of the step, and so between blocks.
      const stop = Math.min(end, alignDown(at, step) + step);
      const part = zeroes.subarray(0, stop - at);
      await writePieces(target, at, part, { fua: options.fua, signal: options.signal });
      at = stop;
    }
  } finally {
    target.memory.release(zeroes);
  }
}
