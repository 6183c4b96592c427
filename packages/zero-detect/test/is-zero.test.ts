import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNonZero, isZero } from '../src/index.ts';
import { bytesOf, firstNonZero, sparseData, zeroesAt } from './model.ts';

const notBytes = [
  undefined,
  null,
  7,
  'abc',
  new ArrayBuffer(8),
  new Uint16Array(8),
  [new Uint8Array(1), 'x'],
];

describe('isZero', () => {
  it('agrees with a loop', () => {
    fc.assert(
      fc.property(sparseData(1500), (data) => {
        const bytes = bytesOf(data);
        expect(isZero(data)).toBe(bytes.length > 0 && firstNonZero(bytes) === -1);
      }),
      { numRuns: 500 },
    );
  });

  it('sees every single byte', () => {
    for (const length of [1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 60, 700, 1000]) {
      const view = zeroesAt(5, length);
      expect(isZero(view)).toBe(true);
      for (let at = 0; at < length; at++) {
        view[at] = 1;
        if (isZero(view) || isZero([new Uint8Array(9), view])) expect.fail(`${length}: ${at}`);
        view[at] = 0;
      }
    }
  });

  it('is false where there are no bytes', () => {
    expect(isZero(new Uint8Array(0))).toBe(false);
    expect(isZero([])).toBe(false);
    expect(isZero([new Uint8Array(0), new Uint8Array(0)])).toBe(false);
    expect(isZero([new Uint8Array(0), new Uint8Array(1)])).toBe(true);
  });

  it.each(notBytes)('refuses %o', (value) => {
    expect(() => isZero(value as unknown as Uint8Array)).toThrow(TypeError);
  });

  it('accepts a Buffer and arrays of another realm', async () => {
    const { runInNewContext } = await import('node:vm');
    const foreign = runInNewContext('new Uint8Array(5000)') as Uint8Array;
    expect(isZero([Buffer.alloc(4), foreign])).toBe(true);
    expect(isZero(foreign)).toBe(true);
    foreign[4000] = 1;
    expect(isZero(foreign)).toBe(false);
  });
});

describe('findNonZero', () => {
  it('agrees with a loop', () => {
    fc.assert(
      fc.property(sparseData(1500), fc.nat(), (data, x) => {
        const bytes = bytesOf(data);
        const start = x % (bytes.length + 1);
        expect(findNonZero(data, start)).toBe(firstNonZero(bytes, start));
        expect(findNonZero(data)).toBe(firstNonZero(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it.each([-1, 5, 0.5, Number.NaN])('refuses to start at %d', (start) => {
    const message = `start must be an integer from 0 to 4, got ${start}`;
    expect(() => findNonZero([new Uint8Array(3), new Uint8Array(1)], start)).toThrow(new RangeError(message));
    expect(() => findNonZero(new Uint8Array(4), start)).toThrow(new RangeError(message));
  });

  it.each(notBytes)('refuses %o', (value) => {
    expect(() => findNonZero(value as unknown as Uint8Array)).toThrow(TypeError);
  });
});
