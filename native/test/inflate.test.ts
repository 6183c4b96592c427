import { randomBytes } from 'node:crypto';
import { constants, deflateRawSync } from 'node:zlib';
import type { Inflate } from '@blockyard/native';
import { native, probe } from '@blockyard/native';
import { describe, expect, it } from 'vitest';

const why = probe().inflate.reason;
const inflate = native?.inflate as Inflate;
const text = Buffer.from(randomBytes(3000).toString('base64').repeat(20)).subarray(0, 65_536);

describe.skipIf(why !== undefined)(`inflate${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  /** The bytes written, or -1 when it is refused. */
  const outcome = (input: Uint8Array, output: Uint8Array) =>
    inflate.decompress(input, output).catch(() => -1);

  it.each([9, 12, 15])('decodes windows of %i bits, at every level', async (windowBits) => {
    for (let level = 0; level <= 9; level++) {
      const back = new Uint8Array(text.length);
      expect(await inflate.decompress(deflateRawSync(text, { level, windowBits }), back)).toBe(text.length);
      expect(Buffer.compare(back, text)).toBe(0);
    }
  });

  it('tells how much there was, and ignores what follows', async () => {
    const back = new Uint8Array(text.length + 1000);
    const small = deflateRawSync(text);
    for (const tail of [new Uint8Array(511), randomBytes(77), small]) {
      expect(await inflate.decompress(Buffer.concat([small, tail]), back)).toBe(text.length);
    }
    const nothing = deflateRawSync(new Uint8Array(0));
    expect(await inflate.decompress(nothing, back)).toBe(0);
    expect(await inflate.decompress(nothing, new Uint8Array(0))).toBe(0);
    expect(await outcome(small, new Uint8Array(0))).toBe(-1);
  });

  it('takes all the bytes without the end of the stream, and not one byte fewer or more', async () => {
    const open = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
    const back = new Uint8Array(text.length);
    expect(await inflate.decompress(open, back)).toBe(text.length);
    expect(Buffer.compare(back, text)).toBe(0);
    await expect(inflate.decompress(open, new Uint8Array(text.length + 1))).rejects.toThrow('it ends early');
    await expect(inflate.decompress(open, new Uint8Array(text.length - 1))).rejects.toThrow(
      'holds more than 65535',
    );
    await expect(inflate.decompress(deflateRawSync(text), back.subarray(1))).rejects.toThrow(
      'more than 65535',
    );
  });

  it('does not write beyond the output, nor more than it holds', async () => {
    const bomb = deflateRawSync(new Uint8Array(64 << 20), { level: 9 });
    for (const length of [1, 7, 4000]) {
      const memory = new Uint8Array(8192).fill(9);
      await expect(inflate.decompress(bomb, memory.subarray(1000, 1000 + length))).rejects.toMatchObject({
        code: 'ERR_INFLATE',
      });
      expect(memory.subarray(0, 1000).every((byte) => byte === 9)).toBe(true);
      expect(memory.subarray(1000 + length).every((byte) => byte === 9)).toBe(true);
    }
  });

  it('survives garbage, damage and every truncation', async () => {
    const back = new Uint8Array(65_536);
    expect(await outcome(new Uint8Array(0), back)).toBe(-1);
    for (let i = 0; i < 1000; i++) await outcome(randomBytes(i), back.subarray(0, i * 3));
    const small = deflateRawSync(text.subarray(0, 2000));
    const exact = back.subarray(0, 2000);
    for (let end = 0; end < small.length - 1; end++)
      expect(await outcome(small.subarray(0, end), back)).toBe(-1);
    for (let i = 0; i < 1000; i++) {
      const damaged = Buffer.from(small);
      damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256);
      await outcome(damaged, exact);
    }
    // The streams of the pool's threads are good for the next one all the same.
    const all = Array.from({ length: 16 }, () => inflate.decompress(small, new Uint8Array(2000)));
    expect(await Promise.all(all)).toEqual(Array(16).fill(2000));
  });

  it('works on many at once, good and bad', async () => {
    const small = deflateRawSync(text);
    const all = Array.from({ length: 256 }, async (_, i) => {
      const back = new Uint8Array(text.length);
      const written = await outcome(i % 4 === 3 ? randomBytes(3000) : small, back);
      return i % 4 === 3 || (written === text.length && Buffer.compare(back, text) === 0);
    });
    expect(await Promise.all(all)).toEqual(Array(256).fill(true));
  });

  it('takes bytes alone', async () => {
    await expect(inflate.decompress('no' as never, new Uint8Array(1))).rejects.toThrow(TypeError);
    await expect(inflate.decompress(new Uint8Array(1), new Float64Array(1) as never)).rejects.toThrow(
      TypeError,
    );
  });
});
