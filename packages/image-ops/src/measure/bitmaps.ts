import { alignUp, type BitmapInformation } from '@blockyard/core';

const entryBytes = 8;
const directoryEntryBytes = 24;

/**
 * Bytes that bitmaps of a disk take in an image with such clusters, every bit of them stored: for each the bits and a
 * table of their clusters, and one directory for all.
 */
export function bitmapBytes(
  bitmaps: readonly BitmapInformation[],
  size: number,
  clusterSize: number,
): number {
  let [total, directory] = [0, 0];
  for (const { name, granularity } of bitmaps) {
    const bits = alignUp(Math.ceil(Math.ceil(size / granularity) / 8), clusterSize);
    total += bits + alignUp((bits / clusterSize) * entryBytes, clusterSize);
    directory += alignUp(directoryEntryBytes + new TextEncoder().encode(name).byteLength, entryBytes);
  }
  return total + alignUp(directory, clusterSize);
}
