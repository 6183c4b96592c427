import type { BlockNode } from '@blockyard/core';
import { Breath } from './breath.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';
import { readInOrder } from './read-in-order.ts';

/** Takes bytes in order. `write` resolves when the chunk's memory may be used again. */
export interface Sink {
  write(chunk: Uint8Array): Promise<void>;
}

export interface StreamOutResult {
  size: number;
  bytesRead: number;
  /** Sent as zeroes without a read. */
  bytesZero: number;
}

const zeroBytes = 1 << 20;

/** Sends the whole content to what can only take it in order: a pipe. */
export async function readToSink(
  node: BlockNode,
  sink: Sink,
  options: OperationOptions = {},
): Promise<StreamOutResult> {
  const { size } = node;
  const progress = new ProgressCounter(size, options);
  const breath = new Breath();
  const result = { size, bytesRead: 0, bytesZero: 0 };
  let zeroes: Uint8Array | undefined;
  for await (const { length, data } of readInOrder(node, options)) {
    if (data) {
      await sink.write(data);
      result.bytesRead += length;
      progress.add(length);
      continue;
    }
    zeroes ??= new Uint8Array(zeroBytes);
    for (let done = 0; done < length; ) {
      const part = Math.min(zeroBytes, length - done);
      await sink.write(part === zeroBytes ? zeroes : zeroes.subarray(0, part));
      done += part;
      result.bytesZero += part;
      progress.add(part, part);
      const pause = breath.take();
      if (pause) await pause;
      options.signal?.throwIfAborted();
    }
  }
  return result;
}
