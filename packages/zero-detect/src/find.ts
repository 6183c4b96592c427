import { scan } from '#scan';
import { checkInteger, isSingle, sizeOf, type ZeroDetectData } from './data.ts';
import { VectorScanner } from './vector.ts';

/** The index of the first byte at or after `start` that is not zero, or -1. In a vector, buffers count as one. */
export const findNonZero = (data: ZeroDetectData, start = 0): number => {
  const size = sizeOf(data);
  checkInteger(start, 'start', 0, size);
  return isSingle(data) ? scan(data, start, size) : new VectorScanner(data).find(start, size);
};
