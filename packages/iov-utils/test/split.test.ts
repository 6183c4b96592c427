import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, elementCount, split } from '../src/index.ts';
import { bytesOf, ioData } from './model.ts';

const limits = fc.record(
  {
    maxBytes: fc.integer({ min: 8, max: 60 }),
    maxElements: fc.integer({ min: 1, max: 4 }),
    alignment: fc.constantFrom(1, 2, 3, 4, 8),
  },
  { requiredKeys: [] },
);

describe('split', () => {
  it('keeps the limits and all bytes, or says that it cannot', () => {
    fc.assert(
      fc.property(ioData(), limits, (data, given) => {
        const { maxBytes = Infinity, maxElements = Infinity, alignment = 1 } = given;
        const pieces = [];
        try {
          for (const piece of split(data, given)) pieces.push(piece);
        } catch (error) {
          // Right only where the next buffers really are too small.
          const done = pieces.reduce((sum, piece) => sum + byteLength(piece), 0);
          const next = smallest(data, done, maxElements);
          expect(error).toBeInstanceOf(RangeError);
          expect(next).toBeLessThan(alignment);
          return;
        }
        expect(pieces.flatMap(bytesOf)).toEqual(bytesOf(data));
        pieces.forEach((piece, i) => {
          expect(byteLength(piece)).toBeGreaterThan(0);
          expect(byteLength(piece)).toBeLessThanOrEqual(maxBytes);
          expect(elementCount(piece)).toBeLessThanOrEqual(maxElements);
          if (i < pieces.length - 1) expect(byteLength(piece) % alignment).toBe(0);
        });
      }),
      { numRuns: 500 },
    );
  });

  /** What the first `count` buffers with bytes hold, `skip` bytes into the data. */
  const smallest = (data: Uint8Array | readonly Uint8Array[], skip: number, count: number): number => {
    let [left, sum, seen] = [skip, 0, 0];
    for (const element of data instanceof Uint8Array ? [data] : data) {
      const rest = Math.max(element.length - left, 0);
      left = Math.max(left - element.length, 0);
      if (rest > 0 && seen++ < count) sum += rest;
    }
    return sum;
  };

  it('makes as few pieces as it can', () => {
    const cut = (sizes: number[], given: Parameters<typeof split>[1]) =>
      [
        ...split(
          sizes.map((size) => new Uint8Array(size)),
          given,
        ),
      ].map(byteLength);
    expect(cut([1000], { maxBytes: 300, alignment: 256 })).toEqual([256, 256, 256, 232]);
    // The last piece need not be a multiple, only within the limit.
    expect(cut([768], { maxBytes: 300, alignment: 256 })).toEqual([256, 256, 256]);
    expect(cut([556], { maxBytes: 300, alignment: 256 })).toEqual([256, 300]);
    expect([...split(new Uint8Array(556), { maxBytes: 300, alignment: 256 })].map(byteLength)).toEqual([
      256, 300,
    ]);
    expect(cut([100, 100, 100, 100], { maxElements: 2 })).toEqual([200, 200]);
    expect(cut([100, 100, 100, 100], { maxElements: 3, alignment: 256 })).toEqual([256, 144]);
    expect(cut([0, 5, 0, 5, 0], { maxElements: 2 })).toEqual([10]);
    expect(cut([], { maxBytes: 1 })).toEqual([]);
    expect(cut([0, 0], {})).toEqual([]);
  });

  it('passes on what needs no cut', () => {
    const [a, b] = [new Uint8Array(8), new Uint8Array(8)];
    const data = [a, b];
    expect([...split(a, { maxBytes: 8 })][0]).toBe(a);
    expect([...split(data)][0]).toBe(data);
    expect([...split(data, { maxElements: 1 })][1]).toBe(b);
  });

  it('refuses at the call', () => {
    const data = new Uint8Array(8);
    expect(() => split(data, { maxBytes: 511, alignment: 512 })).toThrow(/maxBytes .* from 512 .* got 511/);
    expect(() => split(data, { maxElements: 0 })).toThrow(/maxElements .* from 1 .* got 0/);
    expect(() => split(data, { alignment: 0 })).toThrow(/alignment .* from 1 .* got 0/);
    expect(() => split(data, { maxBytes: Number.NaN })).toThrow(RangeError);
    expect(() => split({} as Uint8Array)).toThrow(TypeError);
  });

  it('names the place where buffers are too small', () => {
    const data = [new Uint8Array(512), new Uint8Array(100), new Uint8Array(500)];
    expect(() => [...split(data, { maxElements: 1, alignment: 512 })]).toThrow(
      'cannot split at byte 512: 1 buffers hold less than alignment (512)',
    );
  });
});
