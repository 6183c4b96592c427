import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { loadFailure, native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';

const why = loadFailure();
const text = Buffer.from(randomBytes(3000).toString('base64').repeat(20)).subarray(0, 65_536);

describe.skipIf(why !== undefined)(`deflate${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  const deflate = native?.deflate as NonNullable<typeof native>['deflate'];
  const compressed = async (input: Uint8Array, windowBits?: number) => {
    const output = new Uint8Array(input.length + (input.length >> 3) + 100);
    return output.slice(0, await deflate.compress(input, output, windowBits));
  };
  const comesBack = async (input: Uint8Array, windowBits = 15) => {
    const small = await compressed(input, windowBits);
    expect(Buffer.compare(inflateRawSync(small, { windowBits }), input)).toBe(0);
    return small.length;
  };

  it.each([9, 10, 12, 15])('comes back the same from a window of %i bits', async (windowBits) => {
    expect(await comesBack(text, windowBits)).toBeLessThan(text.length);
    // What repeats just at, within, and beyond the window.
    for (const period of [1, 3, 258, 2 ** windowBits - 1, 2 ** windowBits, 2 ** windowBits + 1]) {
      const once = randomBytes(period);
      const input = new Uint8Array(100_000).map((_, i) => once[i % period] as number);
      const length = await comesBack(input, windowBits);
      if (period <= 2 ** windowBits) expect(length).toBeLessThan(period + 2000);
    }
  });

  it('takes anything, and nothing', async () => {
    for (const length of [0, 1, 2, 3, 100, 5000, 1 << 21]) {
      await comesBack(randomBytes(length), 12);
      await comesBack(new Uint8Array(length), 12);
    }
  });

  it('comes back the same, whatever it was', async () => {
    const below = (most: number) => Math.floor(Math.random() * most);
    const piece = (): Uint8Array => {
      const length = below(Math.random() < 0.5 ? 60 : 9000);
      const kind = below(3);
      if (kind === 0) return new Uint8Array(length).fill(below(256));
      return kind === 1 ? randomBytes(length) : text.subarray(below(1000), length);
    };
    for (let i = 0; i < 300; i++)
      await comesBack(Buffer.concat(Array.from({ length: below(60) }, piece)), 12);
  });

  it('keeps within 15 bits a code, whose symbols occur as Fibonacci numbers say', async () => {
    const counts = [1, 1];
    while (counts.length < 24) counts.push((counts.at(-1) as number) + (counts.at(-2) as number));
    const bytes = counts.flatMap((count, symbol) => Array<number>(Math.min(count, 5000)).fill(symbol * 7));
    for (let i = bytes.length - 1; i > 0; i--) {
      const other = Math.floor(Math.random() * (i + 1));
      [bytes[i], bytes[other]] = [bytes[other] as number, bytes[i] as number];
    }
    await comesBack(Uint8Array.from(bytes), 9);
  });

  it('tells 0 when the output is too small, and writes nothing beyond it', async () => {
    expect(await deflate.compress(randomBytes(65_536), new Uint8Array(65_535))).toBe(0);
    expect(await deflate.compress(text, new Uint8Array(0))).toBe(0);
    const { length } = await compressed(text);
    const memory = new Uint8Array(length + 2000).fill(9);
    expect(await deflate.compress(text, memory.subarray(1000, 1000 + length - 1))).toBe(0);
    expect(await deflate.compress(text, memory.subarray(1000, 1000 + length))).toBe(length);
    expect(memory.subarray(0, 1000).every((byte) => byte === 9)).toBe(true);
    expect(memory.subarray(1000 + length).every((byte) => byte === 9)).toBe(true);
    expect(Buffer.compare(inflateRawSync(memory.subarray(1000, 1000 + length)), text)).toBe(0);
  });

  it('works on many at once, each with its own window', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, i) => comesBack(text, 9 + (i % 7))));
  });

  it('takes bytes and windows of deflate alone', async () => {
    const output = new Uint8Array(100);
    await expect(deflate.compress('no' as never, output)).rejects.toThrow(TypeError);
    await expect(deflate.compress(output, new Float64Array(1) as never)).rejects.toThrow(TypeError);
    for (const windowBits of [8, 16, -12, 12.5, Number.NaN])
      await expect(deflate.compress(output, output, windowBits)).rejects.toThrow(RangeError);
  });
});
