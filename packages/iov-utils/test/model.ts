import fc from 'fast-check';
import type { IoData, IoVector } from '../src/index.ts';

/** The model of a vector: its bytes, read one by one. */
export const bytesOf = (data: IoData): number[] =>
  data instanceof Uint8Array ? Array.from(data) : data.flatMap((element) => Array.from(element));

/** A view at any byte offset into memory that has other bytes around it. */
export const view = (maxLength = 40): fc.Arbitrary<Uint8Array> =>
  fc.tuple(fc.uint8Array({ maxLength }), fc.nat({ max: 9 })).map(([bytes, before]) => {
    const memory = new Uint8Array(bytes.length + before + 5).fill(0xee);
    memory.set(bytes, before);
    return memory.subarray(before, before + bytes.length);
  });

export const vector = (maxLength = 6): fc.Arbitrary<IoVector> => fc.array(view(), { maxLength });

export const ioData = (): fc.Arbitrary<IoData> => fc.oneof(view(), vector());

/** The same bytes cut elsewhere: into pieces of the lengths given, in turn. */
export const recut = (bytes: readonly number[], cuts: readonly number[]): IoVector => {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const cut of cuts) {
    pieces.push(Uint8Array.from(bytes.slice(at, at + cut)));
    at = Math.min(at + cut, bytes.length);
  }
  pieces.push(Uint8Array.from(bytes.slice(at)));
  return pieces;
};

/** `data` and a range inside it. */
export const dataAndRange = () =>
  fc.tuple(ioData(), fc.nat(), fc.nat()).map(([data, x, y]) => {
    const size = bytesOf(data).length;
    const [a, b] = [x % (size + 1), y % (size + 1)];
    return { data, size, start: Math.min(a, b), end: Math.max(a, b) };
  });
