import type { BlockNode } from '@blockyard/core';
import { Breath } from './breath.ts';
import { ExtentCursor } from './cursor.ts';
import { geometry } from './geometry.ts';
import type { OperationOptions } from './operation.ts';
import { readAt } from './requests.ts';
import { type Segment, segments } from './segments.ts';

/** A part of the content. `data` is the reader's until it asks for the next piece; without it all is zero. */
export interface Piece {
  offset: number;
  length: number;
  data?: Uint8Array;
}

interface Started {
  segment: Segment;
  buffer?: Uint8Array;
  read?: Promise<unknown>;
}

const zeroChunk = 1 << 30;

/** The content of a disk from first byte to last, with several reads in flight and none for what is known to be zero. */
export async function* readInOrder(
  node: BlockNode,
  options: Omit<OperationOptions, 'onProgress'> = {},
  op = 'read',
): AsyncGenerator<Piece, void, undefined> {
  const { signal } = options;
  const { chunk, lanes, align, buffers, release } = geometry([node], options, { op, size: node.size });
  const cursor = new ExtentCursor(node, signal);
  const plan = segments(cursor, { end: node.size, align, chunk, zeroChunk, hostChunk: 0 });
  const started: Started[] = [];
  const spare = [...buffers];
  let reading = 0;
  let planned = false;
  const breath = new Breath();
  const start = (segment: Segment): Started => {
    if (segment.zero) return { segment };
    // There are as many as lanes.
    const buffer = spare.pop() as Uint8Array;
    reading++;
    const read = readAt(node, segment.offset, buffer.subarray(0, segment.length), signal);
    // It is awaited in turn; until then a failure is not unhandled.
    read.catch(() => {});
    return { segment, buffer, read };
  };
  try {
    while (true) {
      while (!planned && reading < lanes && started.length < 2 * lanes) {
        const next = await plan.next();
        if (next.done) planned = true;
        else started.push(start(next.value));
      }
      const first = started[0];
      if (!first) return;
      const { segment, buffer, read } = first;
      await read;
      const pause = breath.take();
      if (pause) await pause;
      signal?.throwIfAborted();
      started.shift();
      if (!buffer) {
        yield { offset: segment.offset, length: segment.length };
        continue;
      }
      reading--;
      try {
        yield { offset: segment.offset, length: segment.length, data: buffer.subarray(0, segment.length) };
      } finally {
        spare.push(buffer);
      }
    }
  } finally {
    await Promise.allSettled(started.map(({ read }) => read));
    release();
    await plan.return(undefined);
  }
}
