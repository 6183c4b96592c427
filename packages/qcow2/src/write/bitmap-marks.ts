import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { flagsAt, flagsOf } from './bitmap-directory.ts';
import type { TrackedBitmap } from './tracked-bitmap.ts';

/**
 * Durably marks as in use what is stored of the bitmaps. Their flags are changed in place: a power cut leaves each as
 * it was or marked, and nothing that it tells is untrue before this resolves.
 */
export async function markInUse(file: BlockNode, bitmaps: readonly TrackedBitmap[]): Promise<void> {
  const unmarked = bitmaps.filter(({ marked, stored }) => stored && !marked);
  if (unmarked.length === 0) return;
  for (const bitmap of unmarked) {
    const flags = new Uint8Array(4);
    viewOf(flags).setUint32(0, flagsOf(bitmap.entry(true)));
    await file.write(bitmap.entryOffset + flagsAt, flags);
  }
  await file.flush();
  for (const bitmap of unmarked) bitmap.marked = true;
}
