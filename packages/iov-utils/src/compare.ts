import { isSingle } from './check.ts';
import { difference } from './difference.ts';
import { byteLength, elements } from './elements.ts';
import type { IoData, IoVector } from './types.ts';

/** Walks both vectors together, comparing the pieces that lie inside one buffer of each. */
const compareVectors = (a: IoVector, b: IoVector, length: number): number => {
  let [i, j, inA, inB, done] = [0, 0, 0, 0, 0];
  while (done < length) {
    const x = a[i] as Uint8Array;
    const y = b[j] as Uint8Array;
    const step = Math.min(x.length - inA, y.length - inB);
    const at = difference(x, inA, y, inB, step);
    if (at !== -1) return done + at;
    done += step;
    inA += step;
    inB += step;
    if (inA === x.length) [i, inA] = [i + 1, 0];
    if (inB === y.length) [j, inB] = [j + 1, 0];
  }
  return -1;
};

/**
 * The first index at which the bytes differ, or -1 where they are the same. How they are scattered does not
 * matter. Where one is the beginning of the other, the index is the shorter one's length.
 */
export const compare = (a: IoData, b: IoData): number => {
  const aSize = byteLength(a);
  const bSize = byteLength(b);
  const common = Math.min(aSize, bSize);
  const at =
    isSingle(a) && isSingle(b)
      ? difference(a, 0, b, 0, common)
      : compareVectors(elements(a), elements(b), common);
  return at === -1 && aSize !== bSize ? common : at;
};

/** Whether the bytes are the same, however they are scattered. */
export const equals = (a: IoData, b: IoData): boolean =>
  byteLength(a) === byteLength(b) && compare(a, b) === -1;
