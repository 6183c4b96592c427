import { checkInteger, isSingle } from './check.ts';
import { byteLength } from './elements.ts';
import { slice } from './slice.ts';
import type { IoData, IoVector } from './types.ts';

/** What one piece may be; what is left out does not limit. */
export interface SplitLimits {
  /** Most bytes in a piece. */
  maxBytes?: number;
  /** Most buffers in a piece. */
  maxElements?: number;
  /** Every piece but the last is a multiple of this many bytes long. */
  alignment?: number;
}

const checkLimit = (value: number, name: string, minimum: number): void => {
  if (value !== Number.POSITIVE_INFINITY) checkInteger(value, name, minimum, Number.MAX_SAFE_INTEGER);
};

/**
 * Cuts `data` into pieces within the limits, in order, as large as they can be, all views of the same memory.
 * Empty data gives no piece. Throws a RangeError where `maxElements` buffers hold less than `alignment` bytes:
 * such a vector cannot be cut without copying.
 */
export const split = (data: IoData, limits: SplitLimits = {}): IterableIterator<IoData> => {
  const {
    maxBytes = Number.POSITIVE_INFINITY,
    maxElements = Number.POSITIVE_INFINITY,
    alignment = 1,
  } = limits;
  checkInteger(alignment, 'alignment', 1, Number.MAX_SAFE_INTEGER);
  checkLimit(maxBytes, 'maxBytes', alignment);
  checkLimit(maxElements, 'maxElements', 1);
  const size = byteLength(data);
  // Checked here and not in the generators, so that a mistake shows at the call.
  return isSingle(data)
    ? splitSingle(data, maxBytes, alignment)
    : splitVector(data, size, maxBytes, maxElements, alignment);
};

function* splitSingle(
  data: Uint8Array,
  maxBytes: number,
  alignment: number,
): Generator<IoData, void, undefined> {
  const step = maxBytes - (maxBytes % alignment);
  let start = 0;
  while (data.length - start > maxBytes) {
    yield data.subarray(start, start + step);
    start += step;
  }
  if (start < data.length) yield start === 0 ? data : data.subarray(start);
}

function* splitVector(
  data: IoVector,
  size: number,
  maxBytes: number,
  maxElements: number,
  alignment: number,
): Generator<IoData, void, undefined> {
  if (size > 0 && size <= maxBytes && data.length <= maxElements) {
    yield slice(data, 0, size);
    return;
  }
  let index = 0;
  let skip = 0;
  let left = size;
  while (left > 0) {
    let length = reach(data, index, skip, maxBytes, maxElements);
    if (length < left) length -= length % alignment;
    if (length === 0) {
      throw new RangeError(
        `cannot split at byte ${size - left}: ${maxElements} buffers hold less than alignment (${alignment})`,
      );
    }
    left -= length;
    const piece: Uint8Array[] = [];
    while (length > 0) {
      const element = data[index] as Uint8Array;
      const step = Math.min(element.length - skip, length);
      if (step > 0) piece.push(step === element.length ? element : element.subarray(skip, skip + step));
      length -= step;
      skip += step;
      if (skip === element.length) {
        index++;
        skip = 0;
      }
    }
    yield piece.length === 1 ? (piece[0] as Uint8Array) : piece;
  }
}

/** How many bytes from the position on the limits let into one piece. */
const reach = (
  data: IoVector,
  index: number,
  skip: number,
  maxBytes: number,
  maxElements: number,
): number => {
  let length = -skip;
  let count = 0;
  for (let i = index; i < data.length && count < maxElements && length < maxBytes; i++) {
    const step = (data[i] as Uint8Array).length;
    if (step > 0) count++;
    length += step;
  }
  return Math.min(length, maxBytes);
};
