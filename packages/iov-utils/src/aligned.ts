import { checkBytes, checkInteger, isSingle } from './check.ts';
import type { IoData } from './types.ts';

/**
 * Whether the address and the length of every element are multiples of `alignment`, as direct I/O demands.
 * `addressOf` gives the address of a buffer's first byte (or any number equal to it modulo `alignment`). Empty
 * elements are aligned: the kernel does not look at them.
 */
export const isAligned = (
  data: IoData,
  alignment: number,
  addressOf: (buffer: ArrayBufferLike) => number,
): boolean => {
  checkInteger(alignment, 'alignment', 1, Number.MAX_SAFE_INTEGER);
  if (isSingle(data)) return isElementAligned(data, alignment, addressOf);
  return data.every((element) => isElementAligned(element, alignment, addressOf));
};

const isElementAligned = (
  element: Uint8Array,
  alignment: number,
  addressOf: (buffer: ArrayBufferLike) => number,
): boolean => {
  checkBytes(element, 'every element');
  if (alignment === 1 || element.length === 0) return true;
  if (element.length % alignment !== 0) return false;
  return (addressOf(element.buffer) + element.byteOffset) % alignment === 0;
};
