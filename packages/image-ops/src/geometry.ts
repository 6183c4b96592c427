import { alignDown, alignUp, type BlockNode, portableMemory } from '@blockyard/core';
import { checkCount, defaultBufferBytes, defaultConcurrency, type OperationOptions } from './operation.ts';

/** Large enough that the cost per request is nothing beside that of its bytes. */
const chunkBytes = 2 << 20;
const smallestChunk = 64 << 10;
const largestChunk = 16 << 20;

/** How an operation on these nodes is cut into requests. */
export interface Geometry {
  /** Bytes of a large request. */
  chunk: number;
  /** Requests in flight; each has a buffer of `chunk` bytes. */
  lanes: number;
  /** Cuts lie on multiples of it, so that no node reads, modifies and writes. */
  align: number;
  allocate(): Uint8Array;
  release(buffer: Uint8Array): void;
}

export function geometry(nodes: readonly BlockNode[], options: OperationOptions): Geometry {
  const { concurrency = defaultConcurrency, bufferBytes = defaultBufferBytes } = options;
  checkCount('concurrency', concurrency, 1);
  checkCount('bufferBytes', bufferBytes, 1);
  const limits = nodes.map((node) => node.limits);
  const align = Math.max(...limits.map((limit) => limit.requestAlignment));
  const memoryAlign = Math.max(...limits.map((limit) => limit.optMemAlignment));
  const preferred = Math.max(...limits.map((limit) => limit.optTransfer)) || chunkBytes;
  const wanted = Math.min(largestChunk, Math.max(smallestChunk, preferred));
  // Fewer lanes rather than many tiny requests, when memory is short.
  const lanes = Math.max(1, Math.min(concurrency, Math.floor(bufferBytes / Math.min(wanted, smallestChunk))));
  const unit = Math.max(align, memoryAlign);
  const chunk = Math.max(unit, alignDown(Math.min(wanted, Math.floor(bufferBytes / lanes)), unit));
  const memory = nodes.find((node) => node.memory !== portableMemory)?.memory ?? portableMemory;
  return {
    chunk,
    lanes,
    align,
    allocate: () => memory.allocate(alignUp(chunk, memoryAlign), memoryAlign),
    release: (buffer) => memory.release(buffer),
  };
}
