import type { BlockNode } from './block-node.ts';

/**
 * A byte range of one status, as `qemu-img map` tells it:
 *
 * | data  | zero  | present | meaning |
 * | ----- | ----- | ------- | --- |
 * | true  | false | true    | stored bytes |
 * | true  | true  | true    | allocated, and known to read as zeroes |
 * | false | true  | true    | reads as zeroes without storage: a hole, a zero cluster |
 * | false | true  | false   | allocated in no layer: reads as zeroes |
 */
export interface Extent {
  offset: number;
  length: number;
  /** Storage is assigned and would be read. */
  data: boolean;
  /** Known to read as zeroes. */
  zero: boolean;
  /** Some layer of the chain says what is here. */
  present: boolean;
  /** Backing steps from the node that was asked to the layer that says so; 0 is the node itself. */
  depth: number;
  compressed: boolean;
  /** Where the range is in `hostNode`, for plain data and for zeroes that have a place. */
  hostOffset?: number;
  /** The protocol node that holds the bytes. */
  hostNode?: BlockNode;
}

/** Whether `next` follows `extent` and says the same of the bytes after it. */
export function continues(extent: Extent, next: Extent): boolean {
  const end = extent.offset + extent.length;
  return (
    next.offset === end &&
    next.data === extent.data &&
    next.zero === extent.zero &&
    next.present === extent.present &&
    next.depth === extent.depth &&
    next.compressed === extent.compressed &&
    next.hostNode === extent.hostNode &&
    (extent.hostOffset === undefined
      ? next.hostOffset === undefined
      : next.hostOffset === extent.hostOffset + extent.length)
  );
}
