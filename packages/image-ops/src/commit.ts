import type { BlockNode } from '@blockyard/core';
import { chainOf, withoutFilters } from './chain.ts';
import { ExtentCursor } from './cursor.ts';
import { geometry } from './geometry.ts';
import { runLanes } from './lanes.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';
import { parts } from './parts.ts';
import { checkWritable, refuse } from './refuse.ts';
import { readAt, writeAt, zeroAt } from './requests.ts';

export interface CommitOptions extends OperationOptions {
  /** Leave the data in `top` too. Without it `top` is emptied when `base` is directly behind it. */
  keep?: boolean | undefined;
}

export interface CommitResult {
  /** Bytes of the disk of `top`. */
  size: number;
  /** Bytes that were read above `base` and written into it. */
  bytesWritten: number;
  bytesZeroWritten: number;
  /** Size of `base` before, when it had to grow. */
  grownFrom?: number;
  /** The data of `top` was given up. */
  emptied: boolean;
}

/** Zeroes are written in requests of at most so much. */
const zeroChunk = 256 << 20;

/**
 * Writes what the layers above `base` hold into `base`, which must be a node of the chain of `top` that is open for
 * writing; it grows to the size of `top` where it is smaller. Only when `base` is flushed is `top` emptied: after a
 * failure `top` shows what it did, and the commit can be repeated.
 * @throws BlockError with the offset of the request that failed.
 */
export async function commit(
  top: BlockNode,
  base: BlockNode,
  options: CommitOptions = {},
): Promise<CommitResult> {
  const { signal, keep = false } = options;
  signal?.throwIfAborted();
  const layers = layersAbove(top, base);
  const empty = !keep && layers === 1;
  checkWritable('commit', base);
  if (empty) {
    checkWritable('commit', top);
    if (!withoutFilters(top).features.makeEmpty) {
      const text = `the driver '${top.driver}' cannot empty an image; keep its data (keep: true)`;
      throw refuse('ERR_NOT_SUPPORTED', 'commit', top, text);
    }
  }
  const { size } = top;
  const result: CommitResult = { size, bytesWritten: 0, bytesZeroWritten: 0, emptied: false };
  const progress = new ProgressCounter(size, options);
  const cut = geometry([top, base], options, { op: 'commit', size });
  try {
    if (base.size < size) {
      result.grownFrom = base.size;
      await grow(base, size, result, signal);
    }
    const above = new ExtentCursor(top, signal);
    const below = new ExtentCursor(base, signal);
    const decide = async (at: number, end: number) => {
      const ours = await above.at(at, end);
      if (ours.depth >= layers) return { length: ours.length, kind: 'keep' as const };
      if (!ours.zero) return { length: ours.length, kind: 'data' as const };
      const theirs = await below.at(at, at + ours.length);
      return { length: theirs.length, kind: theirs.zero ? ('keep' as const) : ('zero' as const) };
    };
    const plan = parts(decide, {
      ...{ end: size, align: 1, mixed: 'data' },
      longest: (kind) => (kind === 'data' ? cut.chunk : zeroChunk),
    });
    await runLanes(plan, cut.lanes, async ({ offset, length, kind }, lane) => {
      signal?.throwIfAborted();
      if (kind === 'data') {
        const data = (cut.buffers[lane] as Uint8Array).subarray(0, length);
        await readAt(top, offset, data, signal);
        await writeAt(base, offset, data, { signal });
        result.bytesWritten += length;
      } else if (kind === 'zero') {
        await zeroAt(base, offset, length, { signal, mayUnmap: true });
        result.bytesZeroWritten += length;
      }
      progress.add(length, kind === 'zero' ? length : 0);
    });
  } finally {
    cut.release();
  }
  await base.flush({ signal });
  if (empty) {
    await withoutFilters(top).features.makeEmpty?.({ signal });
    await top.flush({ signal });
    result.emptied = true;
  }
  return result;
}

/** How many layers of `top` are in front of `base`. */
function layersAbove(top: BlockNode, base: BlockNode): number {
  const index = chainOf(top).indexOf(withoutFilters(base));
  if (index > 0) return index;
  const text =
    index === 0
      ? 'an image cannot be committed into itself; name one that is behind it'
      : `${base.path || base.driver} is not in its chain of backing files; open that image first, for writing, and give the open node as the backing child when this one is opened`;
  throw refuse('ERR_INVALID_OPTION', 'commit', top, text);
}

/** What a longer image behind `base` has beyond its old end must not come to light. */
async function grow(
  base: BlockNode,
  size: number,
  result: CommitResult,
  signal: AbortSignal | undefined,
): Promise<void> {
  const from = base.size;
  await base.truncate(size, { signal });
  try {
    const cursor = new ExtentCursor(base, signal);
    for (let at = from; at < size; ) {
      const extent = await cursor.at(at, size);
      const length = Math.min(extent.length, zeroChunk);
      if (!extent.zero) {
        await zeroAt(base, at, length, { signal });
        result.bytesZeroWritten += length;
      }
      at += length;
    }
  } catch (error) {
    // Its old end hid it; that the first error is told matters more than what comes of this.
    await base.truncate(from, { shrink: true }).catch(() => {});
    throw error;
  }
}
