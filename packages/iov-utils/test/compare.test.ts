import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, equals } from '../src/index.ts';
import { bytesOf, ioData, recut } from './model.ts';

const firstDifference = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (a[i] !== b[i]) return i;
  return -1;
};

describe('compare', () => {
  it('agrees with a loop', () => {
    fc.assert(
      fc.property(ioData(), ioData(), (a, b) => {
        expect(compare(a, b)).toBe(firstDifference(bytesOf(a), bytesOf(b)));
      }),
    );
  });

  it('does not see how bytes are scattered, and finds the one that differs', () => {
    const cuts = fc.array(fc.nat(300), { maxLength: 6 });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 900 }),
        cuts,
        cuts,
        fc.nat(),
        (bytes, x, y, at) => {
          const other = Array.from(bytes);
          expect(compare(recut(other, x), recut(other, y))).toBe(-1);
          const index = at % bytes.length;
          other[index] = (other[index] as number) ^ 0x80;
          expect(compare(recut(Array.from(bytes), x), recut(other, y))).toBe(index);
          expect(equals(recut(Array.from(bytes), x), recut(other, y))).toBe(false);
        },
      ),
    );
  });

  it('finds every single byte, at every pair of alignments', () => {
    const length = 150;
    for (let i = 0; i < 8; i++) {
      for (let j = 0; j < 8; j++) {
        const a = new Uint8Array(length + 8).fill(0xff).subarray(i, i + length);
        const b = new Uint8Array(length + 8).fill(0xff).subarray(j, j + length);
        // What lies around must not count.
        new Uint8Array(b.buffer).fill(1, j + length);
        expect(compare(a, b)).toBe(-1);
        for (let at = 0; at < length; at++) {
          b[at] = 0x7f;
          if (compare(a, b) !== at) expect.fail(`${i} ${j} ${at}: ${compare(a, b)}`);
          b[at] = 0xff;
        }
      }
    }
  });

  it('gives the first of several', () => {
    const a = new Uint8Array(4096);
    const b = new Uint8Array(4096);
    b[4000] = 1;
    b[1003] = 1;
    b[1001] = 1;
    expect(compare(a, b)).toBe(1001);
  });

  it('gives the length of the shorter one where that is a beginning', () => {
    expect(compare(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3))).toBe(2);
    expect(compare([Uint8Array.of(1), Uint8Array.of(2, 0)], Uint8Array.of(1, 2))).toBe(2);
    expect(compare([], new Uint8Array(0))).toBe(-1);
    expect(equals(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3))).toBe(false);
    expect(equals([Uint8Array.of(1)], Uint8Array.of(1))).toBe(true);
  });
});
