import type { IoData } from '@blockyard/iov-utils';
import type { BlockLimits } from './limits.ts';
import { alignUp } from './request/align.ts';

/** Memory that suits a node. A protocol driver brings its own; format nodes use that of the node below. */
export interface Memory {
  /** A view from a pool, contents undefined, to be given back with `release`. */
  allocate(length: number, alignment: number): Uint8Array;
  release(view: Uint8Array): void;
  /** A zeroed view of its own, left to the garbage collector. */
  create(length: number, alignment: number): Uint8Array;
  /** Whether every buffer's address and length is a multiple of `alignment`. */
  isAligned(data: IoData, alignment: number): boolean;
}

/** Plain memory, for drivers that never show it to a kernel: any alignment is as good as another. */
export const portableMemory: Memory = {
  allocate: (length) => new Uint8Array(length),
  release: () => {},
  create: (length) => new Uint8Array(length),
  isAligned: () => true,
};

/** Memory of its own that a node of these limits takes without a copy. */
export function createFor(
  node: { memory: Memory; limits: Readonly<BlockLimits> },
  length: number,
): Uint8Array {
  const { minMemAlignment, optMemAlignment } = node.limits;
  return node.memory.create(alignUp(length, minMemAlignment), optMemAlignment).subarray(0, length);
}
