import { alignDown, type BlockNode } from '@blockyard/core';
import { equals } from '@blockyard/iov-utils';
import { findNonZero } from '@blockyard/zero-detect';
import { Breath } from './breath.ts';
import { ExtentCursor } from './cursor.ts';
import { settleAll } from './failure.ts';
import { geometry } from './geometry.ts';
import { runLanes } from './lanes.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';
import { readAt } from './requests.ts';

export interface CompareOptions extends OperationOptions {
  /** Also the sizes must be equal, and what is allocated and known to be zero. */
  strict?: boolean | undefined;
  /** Compare only so many bytes of the first disk, which the second must have. Default: all of both. */
  length?: number | undefined;
}

export interface Comparison {
  identical: boolean;
  /** What differs: bytes, or with `strict` the sizes or the allocation. */
  difference?: 'content' | 'size' | 'allocation';
  /** The first byte that differs. */
  offset?: number;
  /** Of the first and the second disk. When they differ and the rest is zero, the disks are identical unless `strict`. */
  sizes: readonly [number, number];
}

interface Part {
  offset: number;
  length: number;
  /** By disk, whether it is known to be zero there. Beyond its end it is. */
  zero: readonly [boolean, boolean];
}

/** Compares what a guest sees. The shorter disk is taken to go on with zeroes, as `qemu-img compare` does. */
export async function compare(a: BlockNode, b: BlockNode, options: CompareOptions = {}): Promise<Comparison> {
  const { strict = false, signal } = options;
  const sizes = [a.size, b.size] as const;
  if (strict && sizes[0] !== sizes[1]) return { identical: false, difference: 'size', sizes };
  const end = options.length ?? Math.max(...sizes);
  // Each lane holds a buffer for either disk.
  const cut = geometry([a, b], options, { op: 'compare', size: end, perLane: 2 });
  const progress = new ProgressCounter(end, options);
  let first = Number.POSITIVE_INFINITY;
  let allocation: number | undefined;
  const parts = compareParts([a, b], sizes, end, cut, signal, (offset) => {
    if (strict) allocation = offset;
    return strict;
  });
  const work = async ({ offset, length, zero }: Part, lane: number) => {
    // A difference before this part is the answer already.
    if (offset > first) return;
    if (!(zero[0] && zero[1])) {
      const pair = [lane * 2, lane * 2 + 1].map((index) => {
        if (zero[index & 1]) return undefined;
        return (cut.buffers[index] as Uint8Array).subarray(0, length);
      });
      await settleAll(
        pair
          .map((data, index) => data && readAt([a, b][index] as BlockNode, offset, data, signal))
          .filter((work) => !!work),
      );
      const at = firstDifference(pair[0], pair[1]);
      if (at !== -1) first = Math.min(first, offset + at);
    }
    progress.add(length, zero[0] && zero[1] ? length : 0);
  };
  async function* untilFound() {
    for await (const part of parts) {
      if (first !== Number.POSITIVE_INFINITY) return;
      yield part;
    }
  }
  try {
    await runLanes(untilFound(), cut.lanes, work);
  } finally {
    cut.release();
  }
  if (first !== Number.POSITIVE_INFINITY)
    return { identical: false, difference: 'content', offset: first, sizes };
  if (allocation !== undefined)
    return { identical: false, difference: 'allocation', offset: allocation, sizes };
  return { identical: true, sizes };
}

/** Cuts both disks where the status of either changes. Stops where the allocation differs and `differs` says so. */
async function* compareParts(
  nodes: readonly [BlockNode, BlockNode],
  sizes: readonly [number, number],
  end: number,
  { chunk }: { chunk: number },
  signal: AbortSignal | undefined,
  differs: (offset: number) => boolean,
): AsyncGenerator<Part, void, undefined> {
  const cursors = nodes.map((node) => new ExtentCursor(node, signal));
  const breath = new Breath();
  const status = async (index: 0 | 1, at: number, stop: number) => {
    const size = sizes[index];
    if (at >= size) return { length: stop - at, zero: true, data: false };
    return await (cursors[index] as ExtentCursor).at(at, Math.min(stop, size));
  };
  for (let at = 0; at < end; ) {
    const pause = breath.take();
    if (pause) await pause;
    const [one, two] = [await status(0, at, end), await status(1, at, end)];
    const known = Math.min(one.length, two.length);
    if ((one.zero !== two.zero || one.data !== two.data) && differs(at)) return;
    const zero = [one.zero, two.zero] as const;
    // What is known to be zero on both sides needs no buffer, and so no cut.
    const stop = zero[0] && zero[1] ? at + known : Math.min(at + known, alignDown(at + chunk, chunk));
    yield { offset: at, length: stop - at, zero };
    at = stop;
  }
}

/** An absent side is zero. -1: equal. */
function firstDifference(a: Uint8Array | undefined, b: Uint8Array | undefined): number {
  if (!a || !b) return a || b ? findNonZero((a ?? b) as Uint8Array) : -1;
  if (equals(a, b)) return -1;
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}
