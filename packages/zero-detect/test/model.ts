import fc from 'fast-check';
import type { ZeroDetectData, ZeroRun } from '../src/index.ts';

export const bytesOf = (data: ZeroDetectData): number[] =>
  data instanceof Uint8Array ? Array.from(data) : data.flatMap((element) => Array.from(element));

/** The model of all scans: a plain loop. */
export const firstNonZero = (bytes: readonly number[], from = 0, to = bytes.length): number => {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return i;
  return -1;
};

/** The model of the runs: block by block, then joined. */
export const runsOf = (bytes: readonly number[], granularity: number, offset: number): ZeroRun[] => {
  const runs: ZeroRun[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(start + granularity - ((offset + start) % granularity), bytes.length);
    const zero = firstNonZero(bytes, start, end) === -1;
    const last = runs.at(-1);
    if (last?.zero === zero) last.length += end - start;
    else runs.push({ start, length: end - start, zero });
    start = end;
  }
  return runs;
};

/** Memory of `length` zeroes at `byteOffset`, with ones all around that must not be seen. */
export const zeroesAt = (byteOffset: number, length: number): Uint8Array =>
  new Uint8Array(byteOffset + length + 9)
    .fill(1)
    .subarray(byteOffset, byteOffset + length)
    .fill(0);

/** Mostly zero bytes of any length and alignment, small ones and ones that go the way of large ones. */
export const sparse = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc
    .record({
      byteOffset: fc.nat(9),
      length: fc.nat(maxLength),
      ones: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { maxLength: 3 }),
    })
    .map(({ byteOffset, length, ones }) => {
      const view = zeroesAt(byteOffset, length);
      if (length > 0) for (const [at, value] of ones) view[at % length] = value;
      return view;
    });

export const sparseData = (maxLength: number): fc.Arbitrary<ZeroDetectData> =>
  fc.oneof(sparse(maxLength), fc.array(sparse(maxLength), { maxLength: 5 }));
