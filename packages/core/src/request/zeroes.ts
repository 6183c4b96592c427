import { BlockError } from '../errors.ts';
import { minNonZero } from '../limits.ts';
import { alignDown, alignUp } from './align.ts';
import type { ZeroOptions } from './options.ts';
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
export async function zeroPieces(
  target: Target,
  offset: number,
  length: number,
  supported: boolean,
  options: ZeroOptions,
): Promise<void> {
  const { limits } = target;
  const end = offset + length;
  const alignment = Math.max(limits.requestAlignment, limits.pwriteZeroesAlignment);
  const limit =
    alignDown(minNonZero(limits.maxPwriteZeroes, Number.MAX_SAFE_INTEGER), alignment) || alignment;
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
    try {
      await target.writeZeroesDriver(at, stop - at, options);
    } catch (error) {
      if (options.noFallback || !cannot(error)) throw error;
      await writeZeroBytes(target, at, stop - at, options);
    }
    at = stop;
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
    for (let done = 0; done < length; done += step) {
      options.signal?.throwIfAborted();
      const part = zeroes.subarray(0, Math.min(step, length - done));
      await writePieces(target, offset + done, part, { fua: options.fua, signal: options.signal });
    }
  } finally {
    target.memory.release(zeroes);
  }
}
