import type { RequestOptions } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { CompressedDescriptor } from '../descriptor.ts';
import type { Image } from '../image.ts';
import { entryOffset } from '../l1.ts';
import { readTable } from '../tables.ts';
import { compressedFlag } from './entries.ts';

/**
 * Gives up every cluster of the disk, so that it shows what is behind it; the file becomes as short as what is left
 * allows. Each L1 entry by itself is either as it was or empty, whenever it is interrupted.
 */
export function makeEmpty(image: Image, { signal }: RequestOptions = {}): Promise<void> {
  return image.exclusive(async () => {
    const { l1, header, file, reclaimer, areas } = image;
    try {
      for (
        let index = l1.nextUsed(0, l1.length);
        index < l1.length;
        index = l1.nextUsed(index + 1, l1.length)
      ) {
        signal?.throwIfAborted();
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

function releaseAll(image: Image, table: Uint8Array): void {
  const { header, reclaimer } = image;
  const { clusterSize } = header;
  const descriptor = new CompressedDescriptor(header.clusterBits);
  const view = viewOf(table);
  const step = header.extendedL2 ? 16 : 8;
  for (let at = 0; at < table.length; at += step) {
    const hi = view.getUint32(at);
    const lo = view.getUint32(at + 4);
    if (hi & compressedFlag) {
      const start = descriptor.offset(hi, lo);
      const first = Math.floor(start / clusterSize);
      const last = Math.floor((start + descriptor.stored(hi, lo) - 1) / clusterSize);
      reclaimer.release(first * clusterSize, last - first + 1, 'request');
    } else if (!header.externalData && entryOffset(hi, lo) !== 0)
      reclaimer.release(entryOffset(hi, lo), 1, 'request');
  }
}
