import { randomBytes } from 'node:crypto';
import type { Zstd } from '@blockyard/native';
import { native, probe } from '@blockyard/native';
import { describe, expect, it } from 'vitest';

const why = probe().zstd.reason;
const zstd = native?.zstd as Zstd;
const text = Buffer.from(randomBytes(3000).toString('base64').repeat(20)).subarray(0, 65_536);

describe.skipIf(why !== undefined)(`zstd${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  const compressed = async (input: Uint8Array, level = 3) => {
    const output = new Uint8Array(input.length + 1000);
    return output.slice(0, await zstd.compress(input, output, level));
  };

  it.each([-5, 1, 3, 19])('comes back the same at level %i', async (level) => {
    const small = await compressed(text, level);
    expect(small.length).toBeLessThan(text.length);
    const back = new Uint8Array(text.length);
    expect(await zstd.decompress(small, back)).toBe(text.length);
    expect(Buffer.compare(back, text)).toBe(0);
  });

  it('tells 0 when the output is too small', async () => {
    expect(await zstd.compress(randomBytes(65_536), new Uint8Array(65_536 - 1), 3)).toBe(0);
    expect(await zstd.compress(text, new Uint8Array(0), 3)).toBe(0);
  });

  it('ignores padding and further frames after the first', async () => {
    const small = await compressed(text);
    const back = new Uint8Array(text.length);
    for (const tail of [new Uint8Array(511), randomBytes(77), await compressed(text)]) {
      expect(await zstd.decompress(Buffer.concat([small, tail]), back)).toBe(text.length);
    }
  });

  it('does not write beyond the output, nor more than it holds', async () => {
    const bomb = await compressed(new Uint8Array(64 << 20));
    const memory = new Uint8Array(8192).fill(9);
    await expect(zstd.decompress(bomb, memory.subarray(1000, 5000))).rejects.toMatchObject({
      code: 'ERR_ZSTD',
    });
    expect(memory.subarray(0, 1000).every((byte) => byte === 9)).toBe(true);
    expect(memory.subarray(5000).every((byte) => byte === 9)).toBe(true);
  });

  it('survives garbage, damage and every truncation', async () => {
    const small = await compressed(text.subarray(0, 2000));
    const back = new Uint8Array(65_536);
    const refused = (input: Uint8Array) =>
      zstd.decompress(input, back).then(
        () => false,
        () => true,
      );
    expect(await refused(new Uint8Array(0))).toBe(true);
    for (let i = 0; i < 200; i++) expect(await refused(randomBytes(i))).toBe(true);
    for (let end = 0; end < small.length; end += 7) expect(await refused(small.subarray(0, end))).toBe(true);
    for (let i = 0; i < 500; i++) {
      const damaged = small.slice();
      damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256);
      await refused(damaged);
    }
  });

  it('works on many at once', async () => {
    const small = await compressed(text);
    const all = Array.from({ length: 64 }, () => zstd.decompress(small, new Uint8Array(text.length)));
    expect(await Promise.all(all)).toEqual(Array(64).fill(text.length));
  });
});
