import type { BlockNode, WriteOptions, ZeroOptions } from '@blockyard/core';
import { locate } from './failure.ts';

/** Reads, or fails with the place on this disk. */
export async function readAt(
  node: BlockNode,
  offset: number,
  into: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await node.read(offset, into, { signal });
  } catch (error) {
    throw locate(error, node, 'read', offset, into.byteLength);
  }
}

/** Writes, or fails with the place on this disk. */
export async function writeAt(
  node: BlockNode,
  offset: number,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<void> {
  try {
    await node.write(offset, bytes, options);
  } catch (error) {
    throw locate(error, node, 'write', offset, bytes.byteLength);
  }
}

/** Writes zeroes, or fails with the place on this disk. */
export async function zeroAt(
  node: BlockNode,
  offset: number,
  length: number,
  options: ZeroOptions,
): Promise<void> {
  try {
    await node.writeZeroes(offset, length, options);
  } catch (error) {
    throw locate(error, node, 'writeZeroes', offset, length);
  }
}
