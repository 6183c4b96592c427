import type { RequestOptions } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { CompressedDescriptor } from '../descriptor.ts';
import type { Image } from '../image.ts';
import { compressedFlag, entryOffset } from '../table-entry.ts';
import { readTable } from '../tables.ts';
import { L2Tables } from './l2-tables.ts';

/**
 * Gives up every cluster of the disk, so that it shows what is behind it; the file becomes as short as what is left
 * allows. Each L1 entry by itself is either as it was or empty, whenever it is interrupted.
 */
export function makeEmpty(image: Image, { signal }: RequestOptions = {}): Promise<void> {
  return image.exclusive(async () => {
    const { l1, header, file, reclaimer, areas } = image;
    const tables = new L2Tables(image);
    try {
      for (
        let index = l1.nextUsed(0, l1.length);
        index < l1.length;
        index = l1.nextUsed(index + 1, l1.length)
      ) {
        signal?.throwIfAborted();
        tables.check(index);
        const offset = l1.at(index);
        const length = header.clusterSize;
        const table = await readTable(file, { what: 'an L2 table', offset, length });
        releaseAll(image, table);
        l1.set(index, 0, false);
        areas.removeL2(offset);
        reclaimer.release(offset, 1, 'other');
      }
    } finally {
      // Slices of tables that are nobody's now.
      image.cache.clear();
    }
    await image.settle();
    await image.cutBack();
  });
}

/** All of it or, where an entry leads to what is no guest data, nothing. */
function releaseAll(image: Image, table: Uint8Array): void {
  for (const { offset, clusters } of clustersOf(image, table)) image.checkGivenUp(offset, clusters);
  for (const { offset, clusters } of clustersOf(image, table))
    image.reclaimer.release(offset, clusters, 'request');
}

/** Where the clusters are that each entry leads to. */
function* clustersOf({ header }: Image, table: Uint8Array): Generator<{ offset: number; clusters: number }> {
  const descriptor = new CompressedDescriptor(header.clusterBits);
  const view = viewOf(table);
  const step = header.extendedL2 ? 16 : 8;
  for (let at = 0; at < table.length; at += step) {
    const hi = view.getUint32(at);
    const lo = view.getUint32(at + 4);
    const offset = entryOffset(hi, lo);
    if (hi & compressedFlag) yield descriptor.clusters(hi, lo);
    else if (!header.externalData && offset !== 0) yield { offset, clusters: 1 };
  }
}
