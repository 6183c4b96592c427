import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstRun, zeroRuns } from '../src/index.ts';
import { bytesOf, runsOf, sparseData } from './model.ts';

/** Blocks of data and zeroes of mixed sizes; whole data blocks are rare in sparse data. */
const blocks = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.boolean()), { maxLength: 12 })
  .map((list) =>
    Uint8Array.from(list.flatMap(([length, zero]) => new Array<number>(length).fill(zero ? 0 : 9))),
  );

const data = fc.oneof(sparseData(1500), blocks, fc.array(blocks, { maxLength: 4 }));
const granularity = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(512, 4096));
const offset = fc.oneof(fc.constant(0), fc.nat(5000), fc.constant(2 ** 52 + 3));

describe('zeroRuns', () => {
  it('agrees with block by block', () => {
    fc.assert(
      fc.property(data, granularity, offset, (value, size, at) => {
        expect([...zeroRuns(value, size, at)]).toEqual(runsOf(bytesOf(value), size, at));
      }),
      { numRuns: 1000 },
    );
  });

  it('cuts at multiples of the granularity of the absolute offset', () => {
    const view = new Uint8Array(4096);
    view[700] = 1;
    expect([...zeroRuns(view, 512)]).toEqual([
      { start: 0, length: 512, zero: true },
      { start: 512, length: 512, zero: false },
      { start: 1024, length: 3072, zero: true },
    ]);
    expect([...zeroRuns(view, 512, 1024 + 100)]).toEqual([
      { start: 0, length: 412, zero: true },
      { start: 412, length: 512, zero: false },
      { start: 924, length: 3172, zero: true },
    ]);
  });

  it('joins blocks over the ends of buffers', () => {
    const vector = [new Uint8Array(300), new Uint8Array(0), Uint8Array.of(1), new Uint8Array(1000)];
    expect([...zeroRuns(vector, 256)]).toEqual([
      { start: 0, length: 256, zero: true },
      { start: 256, length: 256, zero: false },
      { start: 512, length: 789, zero: true },
    ]);
  });

  it('gives nothing for nothing', () => {
    expect([...zeroRuns([], 512)]).toEqual([]);
    expect([...zeroRuns(new Uint8Array(0), 512, 7)]).toEqual([]);
  });

  it('refuses at the call', () => {
    const view = new Uint8Array(8);
    expect(() => zeroRuns(view, 0)).toThrow(/granularity must be an integer from 1 to .* got 0/);
    expect(() => zeroRuns(view, 1.5)).toThrow(RangeError);
    expect(() => zeroRuns(view, 512, -1)).toThrow(/offset must be an integer from 0 to .* got -1/);
    expect(() => zeroRuns(view, 512, Number.MAX_SAFE_INTEGER)).toThrow(RangeError);
    expect(() => zeroRuns(view, 512n as unknown as number)).toThrow(TypeError);
    expect(() => zeroRuns('abc' as unknown as Uint8Array, 512)).toThrow(TypeError);
  });
});

describe('firstRun', () => {
  it('is the first of the runs, from any start between two', () => {
    fc.assert(
      fc.property(data, granularity, offset, (value, size, at) => {
        for (const { start, length, zero } of runsOf(bytesOf(value), size, at)) {
          expect(firstRun(value, size, at, start)).toBe(zero ? length : -length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('starts inside a block with the part that is left', () => {
    const view = new Uint8Array(1024);
    view[10] = 1;
    expect(firstRun(view, 512)).toBe(-512);
    expect(firstRun(view, 512, 0, 5)).toBe(-507);
    expect(firstRun(view, 512, 0, 11)).toBe(1013);
  });

  it('is 0 at the end', () => {
    expect(firstRun(new Uint8Array(0), 512)).toBe(0);
    expect(firstRun(new Uint8Array(9), 512, 0, 9)).toBe(0);
    expect(firstRun([], 512)).toBe(0);
  });

  it('refuses a start outside', () => {
    expect(() => firstRun(new Uint8Array(9), 512, 0, 10)).toThrow(
      new RangeError('start must be an integer from 0 to 9, got 10'),
    );
  });
});
