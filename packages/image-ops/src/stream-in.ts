import { BlockError, type BlockNode } from '@blockyard/core';
import { unitOf } from './clusters.ts';
import { checkSparse, defaultSparse } from './convert/options.ts';
import { sparseRuns } from './convert/zero-runs.ts';
import { locate, settleAll } from './failure.ts';
import { geometry } from './geometry.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';

export interface StreamInOptions extends OperationOptions {
  /** As for `convert`. */
  sparse?: number | undefined;
  targetIsZero?: boolean | undefined;
  /** The target grows with the stream and ends where it ends; without it the stream must fit. */
  grow?: boolean | undefined;
  /** Bytes expected, for progress only. */
  expected?: number | undefined;
}

export interface StreamInResult {
  /** Bytes of the stream. */
  size: number;
  bytesWritten: number;
  bytesZeroDetected: number;
}

/** A target that grows is made larger by so much at a time, and cut to size at the end. */
const growBytes = 1 << 30;

/** Writes a stream of unknown length to a disk from its first byte on, and flushes it. */
export async function writeFromStream(
  source: AsyncIterable<Uint8Array>,
  target: BlockNode,
  options: StreamInOptions = {},
): Promise<StreamInResult> {
  const { sparse = defaultSparse, targetIsZero = false, grow = false, signal } = options;
  checkSparse(sparse);
  const size = grow ? Number.POSITIVE_INFINITY : target.size;
  const { chunk, lanes, align, buffers, release } = geometry([target], options, {
    op: 'write',
    size,
    align: unitOf(target),
  });
  const progress = new ProgressCounter(options.expected ?? 0, options);
  const result: StreamInResult = { size: 0, bytesWritten: 0, bytesZeroDetected: 0 };
  const spare = [...buffers];
  const writing = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;

  const store = async (buffer: Uint8Array, offset: number, length: number) => {
    try {
      const data = buffer.subarray(0, length);
      const work: Promise<unknown>[] = [];
      let zero = 0;
      for (const run of sparseRuns(data, offset, sparse, align)) {
        const at = offset + run.start;
        if (!run.zero) {
          work.push(
            attempt(target, 'write', at, run.length, () =>
              target.write(at, data.subarray(run.start, run.start + run.length), { signal }),
            ),
          );
          result.bytesWritten += run.length;
          continue;
        }
        zero += run.length;
        if (targetIsZero) continue;
        work.push(
          attempt(target, 'writeZeroes', at, run.length, () =>
            target.writeZeroes(at, run.length, { signal, mayUnmap: true }),
          ),
        );
      }
      await settleAll(work);
      result.bytesZeroDetected += zero;
      progress.add(length, zero);
    } catch (error) {
      failure ??= { error };
    } finally {
      spare.push(buffer);
    }
  };

  const send = async (buffer: Uint8Array, length: number) => {
    const offset = result.size;
    if (offset + length > target.size) {
      try {
        if (!grow) throw tooLong(target);
        await target.truncate(Math.max(offset + length, target.size + growBytes), { signal });
      } catch (error) {
        spare.push(buffer);
        throw error;
      }
    }
    result.size += length;
    const work = store(buffer, offset, length);
    writing.add(work);
    void work.then(() => writing.delete(work));
    while (writing.size >= lanes) await Promise.race(writing);
    if (failure) throw failure.error;
  };

  let buffer: Uint8Array | undefined;
  try {
    let held = 0;
    for await (const bytes of source) {
      signal?.throwIfAborted();
      for (let at = 0; at < bytes.byteLength; ) {
        // There are as many as lanes.
        buffer ??= spare.pop() as Uint8Array;
        const count = Math.min(chunk - held, bytes.byteLength - at);
        buffer.set(bytes.subarray(at, at + count), held);
        held += count;
        at += count;
        if (held < chunk) continue;
        const full = buffer;
        buffer = undefined;
        held = 0;
        await send(full, chunk);
      }
    }
    if (buffer && held > 0) {
      const last = buffer;
      buffer = undefined;
      await send(last, held);
    }
  } finally {
    await Promise.all(writing);
    release();
  }
  if (failure) throw failure.error;
  if (grow && target.size !== result.size) await target.truncate(result.size, { signal, shrink: true });
  await target.flush({ signal });
  return result;
}

async function attempt(
  node: BlockNode,
  op: string,
  offset: number,
  length: number,
  work: () => unknown,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw locate(error, node, op, offset, length);
  }
}

function tooLong(target: BlockNode): BlockError {
  const text = `write to ${target.path || 'the target'}: the stream has more than its ${target.size} bytes`;
  return new BlockError('ERR_OUT_OF_BOUNDS', text, {
    op: 'write',
    path: target.path || undefined,
    driver: target.driver,
  });
}
