/**
 * What a node demands and prefers of requests and memory. Bytes, but for the iov counts. Zero means "no limit" for
 * maxima and "as requestAlignment" for the optional alignments. The names are QEMU's BlockLimits in camelCase.
 */
export interface BlockLimits {
  /** Offsets and lengths that reach the driver are multiples of this power of two. */
  requestAlignment: number;
  /** Largest read or write that the driver takes at once. */
  maxTransfer: number;
  /** Best size of large reads and writes. */
  optTransfer: number;
  /** Largest transfer of hardware whose requests bypass the kernel's block layer. */
  maxHwTransfer: number;
  /** Most segments of such hardware. */
  maxHwIov: number;
  /** Most buffers in one vector. */
  maxIov: number;
  /** Memory (address and length of each buffer) with less alignment than this is copied through a bounce buffer. */
  minMemAlignment: number;
  /** Alignment that bounce buffers and `disk.allocate` get, because it makes fewer requests below. */
  optMemAlignment: number;
  pdiscardAlignment: number;
  maxPdiscard: number;
  pwriteZeroesAlignment: number;
  maxPwriteZeroes: number;
}

/** Largest page size known at the sector level: no device asks for more than 4 KiB. */
export const defaultMemAlignment = 4096;

/** Limits of a node without a driver: nothing demanded but the memory alignment of max(4096, page size). */
export function defaultLimits(pageSize = defaultMemAlignment): BlockLimits {
  const memory = Math.max(defaultMemAlignment, pageSize);
  return {
    requestAlignment: 1,
    maxTransfer: 0,
    optTransfer: 0,
    maxHwTransfer: 0,
    maxHwIov: 0,
    maxIov: 1024,
    minMemAlignment: memory,
    optMemAlignment: memory,
    pdiscardAlignment: 0,
    maxPdiscard: 0,
    pwriteZeroesAlignment: 0,
    maxPwriteZeroes: 0,
  };
}

/** The smaller of two maxima, where zero is no limit. */
export const minNonZero = (a: number, b: number): number => (a === 0 ? b : b === 0 ? a : Math.min(a, b));

const maxima = [
  'maxTransfer',
  'optTransfer',
  'maxHwTransfer',
  'maxHwIov',
  'maxIov',
  'maxPdiscard',
  'maxPwriteZeroes',
] as const;
const alignments = [
  'requestAlignment',
  'minMemAlignment',
  'optMemAlignment',
  'pdiscardAlignment',
  'pwriteZeroesAlignment',
] as const;

/** Limits that satisfy every one of `all`: alignments take the larger, maxima the smaller that is not zero. */
export function mergeLimits(first: BlockLimits, ...rest: readonly BlockLimits[]): BlockLimits {
  const merged = { ...first };
  for (const other of rest) {
    for (const name of maxima) merged[name] = minNonZero(merged[name], other[name]);
    for (const name of alignments) merged[name] = Math.max(merged[name], other[name]);
  }
  return merged;
}

const isPowerOfTwo = (n: number): boolean => n > 0 && Number.isInteger(Math.log2(n));

/** @throws RangeError naming the field, when a driver's limits make no sense. */
export function checkLimits(limits: BlockLimits): void {
  for (const name of [...maxima, ...alignments]) {
    const value = limits[name];
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`limits.${name}: ${value} is not a byte count`);
  }
  for (const name of ['requestAlignment', 'minMemAlignment', 'optMemAlignment'] as const) {
    if (!isPowerOfTwo(limits[name]))
      throw new RangeError(`limits.${name}: ${limits[name]} is not a power of two`);
  }
  if (limits.optMemAlignment < limits.minMemAlignment) {
    throw new RangeError(
      `limits.optMemAlignment: ${limits.optMemAlignment} is less than minMemAlignment ${limits.minMemAlignment}`,
    );
  }
  for (const name of ['maxTransfer', 'maxPdiscard', 'maxPwriteZeroes'] as const) {
    const value = limits[name];
    if (value !== 0 && value % limits.requestAlignment !== 0) {
      throw new RangeError(
        `limits.${name}: ${value} is not a multiple of requestAlignment ${limits.requestAlignment}`,
      );
    }
  }
}
