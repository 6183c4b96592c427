import { expect } from 'vitest';
import { openDisk } from './open.ts';

const step = 1 << 16;
const most = 4 << 20;

/** What the first part of the disk reads as, in pieces; undefined for those that are refused. */
export async function readable(image: Uint8Array): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  try {
    await using disk = await openDisk(image, { backing: null });
    for (let at = 0; at < Math.min(most, disk.size); at += step) {
      try {
        const bytes = await disk.read(at, Math.min(step, disk.size - at));
        found.push(Buffer.from(bytes).toString('latin1'));
      } catch {
        found.push(undefined);
      }
    }
  } catch {
    // An image that cannot be opened has nothing that could be lost.
  }
  return found;
}

/** Whatever could be read before can be read after, and is the same. */
export function expectKept(
  before: readonly (string | undefined)[],
  after: readonly (string | undefined)[],
): void {
  for (const [i, bytes] of before.entries())
    if (bytes !== undefined) expect(after[i] === bytes, `piece ${i}`).toBe(true);
}
