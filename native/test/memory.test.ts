import { native as maybe, type Native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { whyNot } from './machine.ts';

const native = maybe as Native;

describe.skipIf(whyNot !== undefined)(`aligned memory${whyNot ?? ''}`, () => {
  it.each([1, 2, 512, 4096, 65_536, 2 << 20])(
    'creates zeroed views aligned to %i, exactly when asked',
    (alignment) => {
      for (const length of [0, alignment, 3 * alignment]) {
        const view = native.memory.create(length, alignment);
        expect(view.length).toBe(length);
        expect(native.memory.isAligned(view, alignment)).toBe(true);
        expect(native.isZero(view)).toBe(true);
        const exact = native.memory.create(2 * length, alignment, { exactly: true });
        expect(native.memory.isAligned(exact, alignment)).toBe(true);
        expect(native.memory.isAligned(exact, 2 * alignment)).toBe(false);
        exact.fill(1);
      }
    },
  );

  it('tells the alignment of address and length, over every part of a vector', () => {
    const view = native.memory.create(8192, 4096);
    const { isAligned } = native.memory;
    expect(isAligned(view.subarray(512, 1024), 512)).toBe(true);
    expect(isAligned(view.subarray(512, 1024), 1024)).toBe(false);
    expect(isAligned(view.subarray(0, 100), 512)).toBe(false);
    expect(isAligned([view, view.subarray(4096)], 4096)).toBe(true);
    expect(isAligned([view, view.subarray(1)], 4096)).toBe(false);
    expect(isAligned(Buffer.allocUnsafe(3), 1)).toBe(true);
    const shared = new Uint8Array(new SharedArrayBuffer(64));
    expect(isAligned(shared, 8)).toBe(true);
  });

  it('lends from the pool, and shows what has not come back', () => {
    const { memory } = native;
    const before = { ...memory.stats };
    const views = [1, 512, 4096, 5000, 1 << 20, 3 << 20].map((length) => memory.allocate(length, 512));
    views.push(memory.allocate(4096, 4 << 20));
    expect(memory.isAligned(views[6] as Uint8Array, 4096)).toBe(true);
    for (const view of views) view.fill(0xff);
    expect(memory.stats.lent).toBe(before.lent + 7);
    expect(memory.stats.lentBytes).toBe(before.lentBytes + views.reduce((sum, view) => sum + view.length, 0));
    for (const view of views) memory.release(view);
    expect(memory.stats.lent).toBe(before.lent);
    expect(memory.stats.lentBytes).toBe(before.lentBytes);
  });

  it('gives no byte to two at once, and uses memory again', () => {
    const { memory } = native;
    const views = Array.from({ length: 300 }, (_, i) => memory.allocate(5000, 4096).fill(i));
    views.forEach((view, i) => {
      expect(view.every((byte) => byte === (i & 255))).toBe(true);
    });
    const slabs = memory.stats.slabBytes;
    for (let round = 0; round < 10; round++) {
      for (const view of views.splice(0)) memory.release(view);
      for (let i = 0; i < 300; i++) views.push(memory.allocate(5000, 4096));
    }
    expect(memory.stats.slabBytes).toBe(slabs);
    for (const view of views) memory.release(view);
  });

  it('keeps little of a burst', () => {
    const { memory } = native;
    const views = Array.from({ length: 40 }, () => memory.allocate(8 << 20, 4096));
    const burst = memory.stats.slabBytes;
    for (const view of views) memory.release(view);
    expect(memory.stats.slabBytes).toBeLessThan(burst / 2);
  });

  it('refuses what it has not lent', () => {
    const { memory } = native;
    const view = memory.allocate(100, 1);
    expect(() => memory.release(view.subarray(1))).toThrow('not lent');
    memory.release(view);
    expect(() => memory.release(view)).toThrow('not lent');
    expect(() => memory.release(new Uint8Array(4))).toThrow('not lent');
  });

  it('cannot be transferred away, which would leave native with a wrong address', () => {
    const view = native.memory.allocate(100, 1);
    try {
      structuredClone(0, { transfer: [view.buffer as ArrayBuffer] });
    } catch {
      // Newer Nodes say so, older ones do nothing.
    }
    expect(view.length).toBe(100);
    native.memory.release(view);
  });

  it.each([0, 3, -4, 1.5, '8', 2n])('refuses alignment %s', (alignment) => {
    expect(() => native.memory.allocate(1, alignment as number)).toThrow(RangeError);
    expect(() => native.memory.create(1, alignment as number)).toThrow(RangeError);
  });

  it('takes huge pages where they are to be had', () => {
    const view = native.memory.create(4 << 20, 4096, { hugePages: true });
    expect(native.memory.isAligned(view, 2 << 20)).toBe(true);
    view.fill(1);
  });
});
