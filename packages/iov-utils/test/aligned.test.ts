import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAligned } from '../src/index.ts';
import { ioData } from './model.ts';

describe('isAligned', () => {
  it('looks at address and length of every element that is not empty', () => {
    const address = 4096 + 4;
    fc.assert(
      fc.property(ioData(), fc.constantFrom(1, 2, 4, 8, 3), (data, alignment) => {
        const all = data instanceof Uint8Array ? [data] : data;
        const expected = all.every(
          (element) =>
            element.length === 0 ||
            (element.length % alignment === 0 && (address + element.byteOffset) % alignment === 0),
        );
        expect(isAligned(data, alignment, () => address)).toBe(expected);
      }),
    );
  });

  it('asks for the address of the buffer that is meant', () => {
    const [good, bad] = [new Uint8Array(1024), new Uint8Array(1024)];
    const addressOf = (buffer: ArrayBufferLike) => (buffer === good.buffer ? 2 ** 47 : 2 ** 47 + 8);
    expect(isAligned(good, 512, addressOf)).toBe(true);
    expect(isAligned([good, bad], 512, addressOf)).toBe(false);
    expect(isAligned([good, bad.subarray(504, 1016)], 512, addressOf)).toBe(true);
    expect(isAligned(good.subarray(0, 511), 512, addressOf)).toBe(false);
  });

  it('refuses nonsense', () => {
    const zero = () => 0;
    expect(() => isAligned(new Uint8Array(1), 0, zero)).toThrow(
      /alignment must be an integer from 1 to .* got 0/,
    );
    expect(() => isAligned([1] as unknown as Uint8Array[], 1, zero)).toThrow(TypeError);
  });
});
