import { native as maybe, type Native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { binding } from '../src/binding.ts';
import { whyNot } from './machine.ts';

const native = maybe as Native;
const variants = ['avx512', 'avx2', 'sse2', 'neon', 'scalar'].filter(
  (name) => binding?.findNonZeroWith(new Uint8Array(1), name) !== undefined,
);
const LENGTHS = [
  0, 1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025,
];

describe.skipIf(whyNot !== undefined)(`zero scan${whyNot ?? ''}`, () => {
  it.each(variants)('%s finds every byte at every alignment around every boundary', (name) => {
    const find = (view: Uint8Array) => binding?.findNonZeroWith(view, name);
    // Beyond the view is not zero: reading past the end would show.
    const memory = new Uint8Array(2048).fill(0xff);
    for (let start = 0; start < 65; start += start < 17 ? 1 : 16) {
      for (const length of LENGTHS) {
        const view = memory.subarray(start, start + length).fill(0);
        expect(find(view)).toBe(-1);
        for (let at = 0; at < length; at += length < 70 || at > length - 70 ? 1 : 13) {
          view[at] = 1 << (at & 7);
          expect(find(view)).toBe(at);
          view[at] = 0;
        }
        view.fill(0xff);
      }
    }
  });

  it('agrees with a plain loop on random data', () => {
    for (let i = 0; i < 2000; i++) {
      const view = new Uint8Array(Math.floor(Math.random() * 3000)).subarray(Math.floor(Math.random() * 9));
      for (let n = Math.floor(Math.random() * 3); n > 0 && view.length > 0; n--) {
        view[Math.floor(Math.random() * view.length)] = Math.floor(Math.random() * 256);
      }
      const expected = view.findIndex((byte) => byte !== 0);
      expect(native.findNonZero(view)).toBe(expected);
      expect(native.isZero(view)).toBe(expected < 0);
    }
  });

  it('looks at every part of a vector', () => {
    const zero = new Uint8Array(5000);
    expect(native.isZero([])).toBe(true);
    expect(native.isZero([zero, new Uint8Array(0), zero])).toBe(true);
    expect(native.isZero([zero, new Uint8Array(100).fill(1, 57, 58)])).toBe(false);
  });

  it('scans large memory', () => {
    const view = new Uint8Array(64 << 20);
    expect(native.findNonZero(view)).toBe(-1);
    view[view.length - 1] = 1;
    expect(native.findNonZero(view)).toBe(view.length - 1);
  });
});
