import { checkRange, isSingle } from './check.ts';
import { byteLength } from './elements.ts';
import type { IoData, IoVector } from './types.ts';

/** The bytes of `vector` from `start` to `end`, already checked. One buffer comes bare, and empty elements are dropped. */
const sliceVector = (vector: IoVector, start: number, end: number): IoData => {
  const views: Uint8Array[] = [];
  let base = 0;
  for (const element of vector) {
    if (base >= end) break;
    const from = Math.max(start - base, 0);
    const to = Math.min(end - base, element.length);
    if (from < to) views.push(from === 0 && to === element.length ? element : element.subarray(from, to));
    base += element.length;
  }
  if (views.length === 0) return new Uint8Array(0);
  return views.length === 1 ? (views[0] as Uint8Array) : views;
};

/**
 * The bytes from `start` to `end` (exclusive, by default all that follow) as views of the same memory. A range
 * inside one buffer is returned as a bare Uint8Array, whole data as the very same object; empty buffers are dropped.
 */
export const slice = (data: IoData, start = 0, end?: number): IoData => {
  const size = byteLength(data);
  const stop = end ?? size;
  checkRange(start, stop, size);
  const whole = start === 0 && stop === size;
  if (isSingle(data)) return whole ? data : data.subarray(start, stop);
  if (whole && data.length > 1 && data.every((element) => element.length > 0)) return data;
  return sliceVector(data, start, stop);
};
