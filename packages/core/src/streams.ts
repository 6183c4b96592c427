import type { BlockNode } from './block-node.ts';
import { BlockError } from './errors.ts';
import { createFor } from './memory.ts';
import type { RequestOptions } from './request/options.ts';

/** Bytes from `start` up to and without `end`; the whole disk without them. */
export interface StreamRange {
  start?: number | undefined;
  end?: number | undefined;
}

/** A chunk is large enough to keep the overhead per chunk small, and small enough to flow. */
const chunkBytes = 1 << 20;

export function readableFrom(
  node: BlockNode,
  range: StreamRange,
  options: RequestOptions,
): ReadableStream<Uint8Array> {
  let at = range.start ?? 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const end = range.end ?? node.size;
        const length = Math.min(chunkBytes, end - at);
        if (length <= 0) return controller.close();
        const chunk = createFor(node, length);
        await node.read(at, chunk, options);
        at += length;
        controller.enqueue(chunk);
      },
    },
    { highWaterMark: 2 },
  );
}

export function writableTo(
  node: BlockNode,
  range: StreamRange,
  options: RequestOptions,
): WritableStream<Uint8Array> {
  let at = range.start ?? 0;
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      const end = range.end ?? node.size;
      if (at + chunk.byteLength > end) {
        const text = `write: the stream has more than the ${end - (range.start ?? 0)} bytes of its range`;
        throw new BlockError('ERR_OUT_OF_BOUNDS', text, {
          op: 'write',
          offset: at,
          length: chunk.byteLength,
          path: node.path,
        });
      }
      await node.write(at, chunk, options);
      at += chunk.byteLength;
    },
    async close() {
      await node.flush(options);
    },
  });
}
