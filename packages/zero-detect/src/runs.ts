import { scan } from '#scan';
import { checkInteger, isSingle, sizeOf, type ZeroDetectData } from './data.ts';
import { VectorScanner } from './vector.ts';

/** A range of data of which every block is zero, or none is. */
export interface ZeroRun {
  /** Index of the first byte in the data given (not an absolute offset). */
  start: number;
  length: number;
  zero: boolean;
}

type Source = Uint8Array | VectorScanner;

const find = (source: Source, from: number, to: number): number =>
  source instanceof VectorScanner ? source.find(from, to) : scan(source, from, to);

const check = (size: number, granularity: number, offset: number, start: number): void => {
  checkInteger(granularity, 'granularity', 1, Number.MAX_SAFE_INTEGER);
  checkInteger(offset, 'offset', 0, Number.MAX_SAFE_INTEGER - size);
  checkInteger(start, 'start', 0, size);
};

/** The run at `start`: its length if zero, minus its length if not. */
const leadingRun = (
  source: Source,
  size: number,
  granularity: number,
  offset: number,
  start: number,
): number => {
  const nonZero = find(source, start, size);
  if (nonZero === -1) return size - start;
  const blockStart = nonZero - ((offset + nonZero) % granularity);
  if (blockStart > start) return blockStart - start;
  let end = blockStart + granularity;
  while (end < size && find(source, end, Math.min(end + granularity, size)) !== -1) end += granularity;
  return start - Math.min(end, size);
};

/**
 * The run that begins at `start`, as a signed length: `n` means that `n` bytes are zero, `-n` that `n` bytes are
 * data, `0` that nothing follows. Runs end where `offset` plus the index is a multiple of `granularity`, or with
 * the data; `offset` is where the data lies in its disk. No run is allocated.
 */
export const firstRun = (data: ZeroDetectData, granularity: number, offset = 0, start = 0): number => {
  const size = sizeOf(data);
  check(size, granularity, offset, start);
  return leadingRun(isSingle(data) ? data : new VectorScanner(data), size, granularity, offset, start);
};

/**
 * The runs of the whole data, in order and without gaps, zero and not zero in turn, cut as `firstRun` cuts
 * them. A block that the data holds only partly, at its beginning or end, is judged by the part.
 */
export const zeroRuns = (
  data: ZeroDetectData,
  granularity: number,
  offset = 0,
): IterableIterator<ZeroRun> => {
  const size = sizeOf(data);
  check(size, granularity, offset, 0);
  // Checked here and not in the generator, so that a mistake shows at the call.
  return generate(isSingle(data) ? data : new VectorScanner(data), size, granularity, offset);
};

function* generate(
  source: Source,
  size: number,
  granularity: number,
  offset: number,
): Generator<ZeroRun, void, undefined> {
  for (let start = 0; start < size; ) {
    const run = leadingRun(source, size, granularity, offset, start);
    const length = Math.abs(run);
    yield { start, length, zero: run > 0 };
    start += length;
  }
}
