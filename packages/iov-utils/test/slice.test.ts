import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concat, elements, flatten, slice } from '../src/index.ts';
import { bytesOf, dataAndRange, ioData } from './model.ts';

describe('slice', () => {
  it('has the bytes of the range', () => {
    fc.assert(
      fc.property(dataAndRange(), ({ data, start, end }) => {
        expect(bytesOf(slice(data, start, end))).toEqual(bytesOf(data).slice(start, end));
        expect(bytesOf(slice(data, start))).toEqual(bytesOf(data).slice(start));
      }),
    );
  });

  it('shares the memory', () => {
    fc.assert(
      fc.property(dataAndRange(), ({ data, start, end }) => {
        const memory = new Set(elements(data).map((element) => element.buffer));
        for (const element of elements(slice(data, start, end))) {
          expect(element.length === 0 || memory.has(element.buffer)).toBe(true);
        }
      }),
    );
  });

  it('is bare exactly where one buffer suffices, and has no empty elements', () => {
    fc.assert(
      fc.property(dataAndRange(), ({ data, start, end }) => {
        const result = slice(data, start, end);
        if (result instanceof Uint8Array) return;
        expect(result.length).toBeGreaterThan(1);
        for (const element of result) expect(element.length).toBeGreaterThan(0);
      }),
    );
  });

  it('makes no new object for what is whole', () => {
    const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    const vector = [a, b];
    expect(slice(a)).toBe(a);
    expect(slice(vector)).toBe(vector);
    expect(slice([new Uint8Array(0), a, new Uint8Array(0)])).toBe(a);
    expect(slice([a, b], 2, 3)).toBe(b);
  });

  it.each([
    [-1, 2, 'start must be an integer from 0 to 4, got -1'],
    [5, 5, 'start must be an integer from 0 to 4, got 5'],
    [1.5, 2, 'start must be an integer from 0 to 4, got 1.5'],
    [Number.NaN, 2, 'start must be an integer from 0 to 4, got NaN'],
    [3, 2, 'end must be an integer from 3 to 4, got 2'],
    [0, 5, 'end must be an integer from 0 to 4, got 5'],
  ])('refuses %d to %d', (start, end, message) => {
    expect(() => slice([new Uint8Array(3), new Uint8Array(1)], start, end)).toThrow(new RangeError(message));
  });

  it('refuses a bigint', () => {
    expect(() => slice(new Uint8Array(3), 1n as unknown as number)).toThrow(
      new TypeError('start must be a number, got 1n'),
    );
  });
});

describe('concat', () => {
  it('has all bytes in order, in the same buffers, without empty ones', () => {
    fc.assert(
      fc.property(fc.array(ioData(), { maxLength: 5 }), (parts) => {
        const given = parts.flatMap((part) => [...elements(part)]).filter((element) => element.length > 0);
        const result = concat(...parts);
        expect(result.length).toBe(given.length);
        for (const [i, element] of result.entries()) expect(element).toBe(given[i]);
      }),
    );
  });

  it('refuses what is not bytes', () => {
    expect(() => concat([new Uint8Array(1), 'x' as unknown as Uint8Array])).toThrow(TypeError);
  });
});

describe('flatten', () => {
  it('has all bytes', () => {
    fc.assert(
      fc.property(ioData(), (data) => {
        expect(Array.from(flatten(data))).toEqual(bytesOf(data));
      }),
    );
  });

  it('copies only where it must', () => {
    const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    expect(flatten(a)).toBe(a);
    expect(flatten([new Uint8Array(0), a])).toBe(a);
    const copy = flatten([a, b]);
    copy[0] = 9;
    expect(a[0]).toBe(1);
    expect(flatten([])).toEqual(new Uint8Array(0));
  });
});
