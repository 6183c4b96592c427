import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { compare, verify } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { MiB, openFilled, openHooked } from './support.ts';

const keep = closing();
const data = [{ offset: 2 * MiB, length: 3 * MiB }];

describe('compare', () => {
  it('finds equal disks identical, and reads nothing where both are known to be zero', async () => {
    const a = await keep(openFilled(32 * MiB, data));
    const b = await keep(openFilled(32 * MiB, data));
    expect(await compare(a, b)).toEqual({ identical: true, sizes: [32 * MiB, 32 * MiB] });
    expect(a.reads.reduce((sum, { length }) => sum + length, 0)).toBe(3 * MiB);
  });

  it('reads only the side that is not known to be zero', async () => {
    const a = await keep(openHooked(8 * MiB));
    const b = await keep(openHooked(8 * MiB));
    await b.write(MiB, new Uint8Array(65536));
    expect((await compare(a, b)).identical).toBe(true);
    expect(a.reads).toEqual([]);
    await b.write(MiB + 7, Uint8Array.of(1));
    expect(await compare(a, b)).toMatchObject({ identical: false, difference: 'content', offset: MiB + 7 });
  });

  it.each([0, 1, 4096, 5 * MiB + 3, 24 * MiB - 1])('gives the first byte that differs: %i', async (at) => {
    const whole = [{ offset: 0, length: 24 * MiB }];
    const a = await keep(openFilled(24 * MiB, whole, { before: () => sleep(Math.random() * 3) }));
    const b = await keep(openFilled(24 * MiB, whole));
    for (const offset of [at, 24 * MiB - 1]) await b.write(offset, Uint8Array.of(0));
    expect(await compare(a, b)).toMatchObject({ identical: false, offset: at });
  });

  it('takes a shorter disk to go on with zeroes', async () => {
    const a = await keep(openFilled(4 * MiB, [{ offset: 0, length: 4 * MiB }]));
    const b = await keep(openFilled(6 * MiB, [{ offset: 0, length: 4 * MiB }]));
    expect(await compare(a, b)).toEqual({ identical: true, sizes: [4 * MiB, 6 * MiB] });
    expect(await compare(b, a)).toMatchObject({ identical: true });
    expect(await compare(a, b, { strict: true })).toEqual({
      identical: false,
      difference: 'size',
      sizes: [4 * MiB, 6 * MiB],
    });
    await b.write(5 * MiB, Uint8Array.of(9));
    expect(await compare(a, b)).toMatchObject({ identical: false, difference: 'content', offset: 5 * MiB });
  });

  it('with strict minds the allocation, but content first', async () => {
    const a = await keep(openHooked(4 * MiB));
    const b = await keep(openHooked(4 * MiB));
    await b.write(MiB, new Uint8Array(65536));
    expect(await compare(a, b)).toMatchObject({ identical: true });
    expect(await compare(a, b, { strict: true })).toMatchObject({
      identical: false,
      difference: 'allocation',
      offset: MiB,
    });
    await a.write(0, Uint8Array.of(1));
    await b.write(0, Uint8Array.of(2));
    expect(await compare(a, b, { strict: true })).toMatchObject({ difference: 'content', offset: 0 });
  });

  it('fails where a disk cannot be read', async () => {
    const a = await keep(openFilled(4 * MiB, [{ offset: 0, length: 4 * MiB }]));
    const b = await keep(openFilled(4 * MiB, [{ offset: 0, length: 4 * MiB }]));
    b.hooks.before = (op) => {
      if (op === 'read') throw Object.assign(new Error('bad sector'), { code: 'EIO' });
    };
    await expect(compare(a, b)).rejects.toMatchObject({ code: 'EIO', op: 'read', offset: 0 });
    expect(a.inFlight).toBe(0);
  });

  it('stops when it is told to', async () => {
    const a = await keep(openFilled(24 * MiB, [{ offset: 0, length: 24 * MiB }], { before: () => sleep(5) }));
    const b = await keep(openHooked(24 * MiB));
    await expect(compare(a, b, { signal: AbortSignal.timeout(8) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(a.inFlight).toBe(0);
  });
});

describe('verify', () => {
  it('passes over a copy on a larger disk, and names the byte that differs', async () => {
    const source = await keep(openFilled(5 * MiB, data));
    const copy = await keep(openFilled(8 * MiB, [...data, { offset: 6 * MiB, length: 1000 }]));
    await verify(source, copy);
    await copy.write(3 * MiB, Uint8Array.of(0));
    await expect(verify(source, copy)).rejects.toMatchObject({ code: 'ERR_VERIFY', offset: 3 * MiB });
    await expect(verify(copy, source)).rejects.toMatchObject({ code: 'ERR_VERIFY' });
  });
});
