import { checkBytes, checkInteger, isSingle } from './check.ts';
import { byteLength } from './elements.ts';
import type { IoData, IoVector } from './types.ts';

/** Checks both ranges and returns how many bytes to move. */
const copyLength = (
  size: number,
  dataStart: number,
  otherSize: number,
  otherName: string,
  otherStart: number,
  length: number | undefined,
): number => {
  checkInteger(dataStart, 'dataStart', 0, size);
  checkInteger(otherStart, otherName, 0, otherSize);
  const most = Math.min(size - dataStart, otherSize - otherStart);
  if (length === undefined) return most;
  checkInteger(length, 'length', 0, most);
  return length;
};

// `set` needs a view of exactly the bytes; making one is avoided where the whole buffer is meant.
const part = (buffer: Uint8Array, start: number, length: number): Uint8Array =>
  length === buffer.length ? buffer : buffer.subarray(start, start + length);

/** The parts of a vector's buffers that `count` bytes from `start` on lie in, and how many bytes lie before each. */
const eachPart = (
  data: IoVector,
  start: number,
  count: number,
  visit: (element: Uint8Array, start: number, length: number, done: number) => void,
): void => {
  let skip = start;
  let done = 0;
  for (let i = 0; done < count; i++) {
    const element = data[i] as Uint8Array;
    const length = Math.min(element.length - skip, count - done);
    if (length > 0) {
      visit(element, skip, length, done);
      done += length;
    }
    skip = Math.max(skip - element.length, 0);
  }
};

/**
 * Gathers: copies bytes of `data` from `dataStart` into `target` at `targetStart`, by default as many as both
 * have room for. Returns the number of bytes copied. Overlapping memory is safe only for a single buffer.
 */
export const copyTo = (
  data: IoData,
  target: Uint8Array,
  dataStart = 0,
  targetStart = 0,
  length?: number,
): number => {
  checkBytes(target, 'target');
  const count = copyLength(byteLength(data), dataStart, target.length, 'targetStart', targetStart, length);
  if (isSingle(data)) {
    target.set(part(data, dataStart, count), targetStart);
    return count;
  }
  eachPart(data, dataStart, count, (element, start, length, done) =>
    target.set(part(element, start, length), targetStart + done),
  );
  return count;
};

/**
 * Scatters: copies bytes of `source` from `sourceStart` into `data` at `dataStart`, by default as many as both
 * have room for. Returns the number of bytes copied.
 */
export const copyFrom = (
  data: IoData,
  source: Uint8Array,
  dataStart = 0,
  sourceStart = 0,
  length?: number,
): number => {
  checkBytes(source, 'source');
  const count = copyLength(byteLength(data), dataStart, source.length, 'sourceStart', sourceStart, length);
  if (isSingle(data)) {
    data.set(part(source, sourceStart, count), dataStart);
    return count;
  }
  eachPart(data, dataStart, count, (element, start, length, done) =>
    element.set(part(source, sourceStart + done, length), start),
  );
  return count;
};
