import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, elementCount, elements, type IoData } from '../src/index.ts';
import { bytesOf, ioData } from './model.ts';

describe('byteLength', () => {
  it('adds up', () => {
    fc.assert(fc.property(ioData(), (data) => byteLength(data) === bytesOf(data).length));
    expect(byteLength([])).toBe(0);
  });

  it.each([
    [undefined, 'data must be a Uint8Array, got undefined'],
    ['abc', 'data must be a Uint8Array, got string abc'],
    [new ArrayBuffer(4), 'data must be a Uint8Array, got [object ArrayBuffer]'],
    [new Uint16Array(4), 'data must be a Uint8Array, got [object Uint16Array]'],
    [[new Uint8Array(1), 7], 'data[1] must be a Uint8Array, got number 7'],
  ])('refuses %o', (value, message) => {
    expect(() => byteLength(value as unknown as IoData)).toThrow(new TypeError(message));
  });

  it('accepts a Buffer, shared memory and arrays of another realm', async () => {
    const { runInNewContext } = await import('node:vm');
    const foreign = runInNewContext('new Uint8Array(3)') as Uint8Array;
    expect(foreign instanceof Uint8Array).toBe(false);
    expect(byteLength([Buffer.alloc(4), foreign, new Uint8Array(new SharedArrayBuffer(5))])).toBe(12);
    expect(byteLength(foreign)).toBe(3);
  });
});

describe('elements', () => {
  it('gives the buffers themselves', () => {
    const one = Uint8Array.of(1);
    const several = [one, new Uint8Array(0)];
    expect(elements(one)).toEqual([one]);
    expect(elements(one)[0]).toBe(one);
    expect(elements(several)).toBe(several);
  });

  it('counts as many as it gives', () => {
    fc.assert(fc.property(ioData(), (data) => elementCount(data) === elements(data).length));
  });
});
