import { checkInteger, checkRange, isSingle } from './check.ts';
import { byteLength } from './elements.ts';
import type { IoData } from './types.ts';

/** Sets the bytes from `start` to `end` (exclusive, by default all that follow) to `value`. */
export const fill = (data: IoData, value: number, start = 0, end?: number): void => {
  checkInteger(value, 'value', 0, 255);
  const size = byteLength(data);
  const stop = end ?? size;
  checkRange(start, stop, size);
  if (isSingle(data)) {
    // The prototype's own: a Buffer's `fill` checks more and does the same.
    Uint8Array.prototype.fill.call(data, value, start, stop);
    return;
  }
  let base = 0;
  for (const element of data) {
    if (base >= stop) break;
    const from = Math.max(start - base, 0);
    const to = Math.min(stop - base, element.length);
    if (from < to) Uint8Array.prototype.fill.call(element, value, from, to);
    base += element.length;
  }
};
