import { alignDown, alignUp, BlockError, type BlockNode, type Memory, portableMemory } from '@blockyard/core';
import { checkCount, defaultBufferBytes, defaultConcurrency, type OperationOptions } from './operation.ts';

/** Large enough that the cost per request is nothing beside that of its bytes. */
const chunkBytes = 2 << 20;
const smallestChunk = 64 << 10;
const largestChunk = 16 << 20;

/** How an operation on these nodes is cut into requests, and the memory for them. */
export interface Geometry {
  /** Bytes of a large request. */
  chunk: number;
  /** Requests in flight. */
  lanes: number;
  /** Cuts lie on multiples of it, so that no node reads, modifies and writes. */
  align: number;
  /** Of at least `chunk` bytes each: one for each lane, or as many as it needs. */
  buffers: readonly Uint8Array[];
  /** Gives all buffers back. Nothing may be in flight in them. */
  release(): void;
}

export interface Need {
  /** Of the operation, for errors: 'convert'. */
  op: string;
  /** Most bytes that can be moved; no more lanes are made than have work. */
  size: number;
  /** Buffers of a lane; all of them count to `bufferBytes`. */
  perLane?: number;
  /** Cuts lie on multiples of this power of two as well. */
  align?: number;
}

/** @throws BlockError ENOMEM when not even one small request can have its memory. */
export function geometry(
  nodes: readonly BlockNode[],
  options: OperationOptions,
  { op, size, perLane = 1, align: least = 1 }: Need,
): Geometry {
  const { concurrency = defaultConcurrency, bufferBytes = defaultBufferBytes } = options;
  checkCount('concurrency', concurrency, 1);
  checkCount('bufferBytes', bufferBytes, 1);
  const limits = nodes.map((node) => node.limits);
  const align = Math.max(least, ...limits.map((limit) => limit.requestAlignment));
  const memoryAlign = Math.max(...limits.map((limit) => limit.optMemAlignment));
  const preferred = Math.max(...limits.map((limit) => limit.optTransfer)) || chunkBytes;
  const wanted = Math.min(largestChunk, Math.max(smallestChunk, preferred));
  // Fewer lanes rather than many tiny requests, when memory is short.
  const most = Math.max(1, Math.min(concurrency, Math.floor(bufferBytes / Math.min(wanted, smallestChunk))));
  const unit = Math.max(align, memoryAlign);
  const chunk = Math.max(unit, alignDown(Math.min(wanted, Math.floor(bufferBytes / most)), unit));
  const lanes = Math.min(Math.max(1, Math.floor(most / perLane)), Math.max(1, Math.ceil(size / chunk)));
  const memory = nodes.find((node) => node.memory !== portableMemory)?.memory ?? portableMemory;
  const held = hold(memory, { chunk, lanes, perLane, unit, memoryAlign });
  if (!held) {
    const text = `${op}: no memory is to be had, not even for one request of ${formatFloor(unit)}; let the process have more (ulimit -v), or close something`;
    throw new BlockError('ENOMEM', text, { op, path: nodes.find(({ path }) => path)?.path });
  }
  if (held.chunk < chunk || held.lanes < lanes) options.onLittleMemory?.();
  return {
    ...held,
    align,
    release() {
      for (const buffer of held.buffers.splice(0)) memory.release(buffer);
    },
  };
}

const floorOf = (unit: number): number => alignUp(smallestChunk, unit);
const formatFloor = (unit: number): string => `${floorOf(unit) >> 10} KiB`;

interface Wish {
  chunk: number;
  lanes: number;
  perLane: number;
  unit: number;
  memoryAlign: number;
}

/** All at once, so that nobody has to wait for memory in the middle. Where not all is to be had, some is left to others. */
function hold(
  memory: Memory,
  { chunk, lanes, perLane, unit, memoryAlign }: Wish,
): { chunk: number; lanes: number; buffers: Uint8Array[] } | undefined {
  const buffers: Uint8Array[] = [];
  const take = () => {
    while (buffers.length < lanes * perLane) {
      const buffer = tryAllocate(memory, alignUp(chunk, memoryAlign), memoryAlign);
      if (!buffer) return false;
      buffers.push(buffer);
    }
    return true;
  };
  const keep = (count: number) => {
    for (const buffer of buffers.splice(count)) memory.release(buffer);
  };
  while (!take()) {
    const had = Math.floor(buffers.length / perLane);
    if (had > 1) {
      lanes = had >> 1;
      keep(lanes * perLane);
      break;
    }
    lanes = 1;
    if (chunk <= floorOf(unit)) {
      if (had === 1) {
        keep(perLane);
        break;
      }
      keep(0);
      return undefined;
    }
    keep(0);
    chunk = Math.max(floorOf(unit), alignDown(chunk / 2, unit));
  }
  return { chunk, lanes, buffers };
}

function tryAllocate(memory: Memory, length: number, alignment: number): Uint8Array | undefined {
  try {
    return memory.allocate(length, alignment);
  } catch (error) {
    // What V8 says when the system has no more.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
