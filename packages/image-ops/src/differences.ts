import { alignDown } from '@blockyard/core';
import { equals } from '@blockyard/iov-utils';

/**
 * The parts in which two pieces of the same disk differ, in whole units of the disk (cut off at the ends of the
 * pieces), neighbours joined.
 */
export function differences(
  a: Uint8Array,
  b: Uint8Array,
  offset: number,
  unit: number,
): { start: number; length: number }[] {
  const found: { start: number; length: number }[] = [];
  for (let start = 0; start < a.byteLength; ) {
    const stop = Math.min(a.byteLength, alignDown(offset + start + unit, unit) - offset);
    if (!equals(a.subarray(start, stop), b.subarray(start, stop))) {
      const last = found.at(-1);
      if (last && last.start + last.length === start) last.length = stop - last.start;
      else found.push({ start, length: stop - start });
    }
    start = stop;
  }
  return found;
}
