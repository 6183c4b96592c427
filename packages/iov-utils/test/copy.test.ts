import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyFrom, copyTo, fill } from '../src/index.ts';
import { bytesOf, dataAndRange, view } from './model.ts';

describe('copyTo', () => {
  it('gathers a range, and touches nothing else', () => {
    fc.assert(
      fc.property(dataAndRange(), fc.nat(5), fc.nat(5), ({ data, start, end }, before, after) => {
        const target = new Uint8Array(before + end - start + after).fill(0xaa);
        expect(copyTo(data, target, start, before, end - start)).toBe(end - start);
        expect(Array.from(target)).toEqual([
          ...new Array(before).fill(0xaa),
          ...bytesOf(data).slice(start, end),
          ...new Array(after).fill(0xaa),
        ]);
      }),
    );
  });

  it('by default takes as much as both have', () => {
    fc.assert(
      fc.property(dataAndRange(), view(), ({ data, size, start }, target) => {
        const count = Math.min(size - start, target.length);
        expect(copyTo(data, target, start)).toBe(count);
        expect(Array.from(target.subarray(0, count))).toEqual(bytesOf(data).slice(start, start + count));
      }),
    );
  });

  it('refuses ranges outside', () => {
    const data = [new Uint8Array(3), new Uint8Array(2)];
    const target = new Uint8Array(4);
    expect(() => copyTo(data, target, 6)).toThrow('dataStart must be an integer from 0 to 5, got 6');
    expect(() => copyTo(data, target, 0, 5)).toThrow('targetStart must be an integer from 0 to 4, got 5');
    expect(() => copyTo(data, target, 0, 1, 4)).toThrow('length must be an integer from 0 to 3, got 4');
    expect(() => copyTo(data, [] as unknown as Uint8Array)).toThrow(TypeError);
  });
});

describe('copyFrom', () => {
  it('scatters into a range, and touches nothing else', () => {
    fc.assert(
      fc.property(dataAndRange(), fc.nat(5), ({ data, start, end }, before) => {
        const source = Uint8Array.from({ length: before + end - start }, (_, i) => i + 1);
        const expected = bytesOf(data);
        expected.splice(start, end - start, ...source.subarray(before));
        expect(copyFrom(data, source, start, before, end - start)).toBe(end - start);
        expect(bytesOf(data)).toEqual(expected);
      }),
    );
  });

  it('by default takes as much as both have', () => {
    fc.assert(
      fc.property(dataAndRange(), view(), ({ data, size, start }, source) => {
        const count = Math.min(size - start, source.length);
        expect(copyFrom(data, source, start)).toBe(count);
        expect(bytesOf(data).slice(start, start + count)).toEqual(Array.from(source.subarray(0, count)));
      }),
    );
  });

  it('refuses ranges outside', () => {
    const data = [new Uint8Array(3), new Uint8Array(2)];
    const source = new Uint8Array(4);
    expect(() => copyFrom(data, source, -1)).toThrow('dataStart must be an integer from 0 to 5, got -1');
    expect(() => copyFrom(data, source, 0, 5)).toThrow('sourceStart must be an integer from 0 to 4, got 5');
    expect(() => copyFrom(data, source, 4, 0, 2)).toThrow('length must be an integer from 0 to 1, got 2');
    expect(() => copyFrom(data, 'abcd' as unknown as Uint8Array)).toThrow(TypeError);
  });
});

describe('fill', () => {
  it('sets a range, and touches nothing else', () => {
    fc.assert(
      fc.property(dataAndRange(), fc.nat(255), ({ data, start, end }, value) => {
        const expected = bytesOf(data).fill(value, start, end);
        fill(data, value, start, end);
        expect(bytesOf(data)).toEqual(expected);
      }),
    );
  });

  it('by default sets all', () => {
    const data = [new Uint8Array(2), Buffer.alloc(3)];
    fill(data, 7);
    expect(bytesOf(data)).toEqual([7, 7, 7, 7, 7]);
  });

  it.each([-1, 256, 0.5])('refuses the value %d', (value) => {
    expect(() => fill(new Uint8Array(1), value)).toThrow(
      `value must be an integer from 0 to 255, got ${value}`,
    );
  });
});
