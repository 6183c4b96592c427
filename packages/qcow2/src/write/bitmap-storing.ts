import type { BitmapDirectory } from '../bitmaps.ts';
import { dropBits, type StoredBitmap, storeBits } from './bitmap-data.ts';
import { bitmapFields, encodeDirectory } from './bitmap-directory.ts';
import type { TrackedBitmap } from './tracked-bitmap.ts';
import type { Transition } from './transition.ts';

export const directoryName = 'the bitmap directory';

/**
 * Puts the bitmaps, none of them marked, in the place of those that are stored: a power cut finds all of the old ones
 * or all of the new. What did not change keeps its clusters.
 */
export async function storeBitmaps(
  transition: Transition,
  bitmaps: readonly TrackedBitmap[],
  removed: readonly TrackedBitmap[],
  old: BitmapDirectory | undefined,
): Promise<BitmapDirectory | undefined> {
  const stored: StoredBitmap[] = [];
  for (const bitmap of bitmaps) {
    const { name, bits } = bitmap;
    if (bitmap.stored && !bits.changed) stored.push(bitmap.stored);
    else {
      stored.push(await storeBits(transition, name, bits));
      if (bitmap.stored) await dropBits(transition, name, bitmap.stored);
    }
  }
  for (const bitmap of removed) if (bitmap.stored) await dropBits(transition, bitmap.name, bitmap.stored);
  if (old) await transition.counts.change(directoryName, old.offset, old.length, -1);
  let directory: BitmapDirectory | undefined;
  if (bitmaps.length > 0) {
    const bytes = encodeDirectory(bitmaps.map((bitmap, i) => bitmap.entry(bitmap.inconsistent, stored[i])));
    const offset = await transition.add(directoryName, bytes);
    directory = { count: bitmaps.length, offset, length: bytes.length };
  }
  await transition.finish({ header: bitmapFields(transition.image.header, directory) }, 'other');
  bitmaps.forEach((bitmap, i) => {
    bitmap.wasStored(stored[i] as StoredBitmap);
  });
  return directory;
}
