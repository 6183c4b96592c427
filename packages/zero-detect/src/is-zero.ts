import { scan } from '#scan';
import { isSingle, sizeOf, type ZeroDetectData } from './data.ts';

/** Four bytes at the beginning, in the middle and at the end: what is not zero seldom looks so there. */
const looksZero = (view: Uint8Array): boolean => {
  const length = view.length;
  if (length < 12) return true;
  const middle = length >>> 1;
  const last = length - 4;
  const sample =
    (view[0] as number) |
    (view[1] as number) |
    (view[2] as number) |
    (view[3] as number) |
    (view[middle] as number) |
    (view[middle + 1] as number) |
    (view[middle + 2] as number) |
    (view[middle + 3] as number) |
    (view[last] as number) |
    (view[last + 1] as number) |
    (view[last + 2] as number) |
    (view[last + 3] as number);
  return sample === 0;
};

/**
 * Whether there are bytes and every one is zero. **Empty data is not zero: the answer is `false`**, so that a
 * request of no bytes never becomes a request to write zeroes.
 */
export const isZero = (data: ZeroDetectData): boolean => {
  const size = sizeOf(data);
  if (size === 0) return false;
  if (isSingle(data)) return looksZero(data) && scan(data, 0, size) === -1;
  // All samples come before the first scan: a look at each buffer is cheaper than reading one.
  return data.every(looksZero) && data.every((element) => scan(element, 0, element.length) === -1);
};
