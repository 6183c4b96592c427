import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nativeDecoder } from '../src/platform/addon.ts';
import { inflateByNode as byNode } from '../src/platform/node.ts';
import { loadZstd, inflate as portable } from '../src/platform/portable.ts';
import { pattern } from './support/encode.ts';

const inputs: [string, Uint8Array][] = [
  ['nothing', new Uint8Array(0)],
  ['one byte', Uint8Array.of(7)],
  ['zeroes', new Uint8Array(65536)],
  ['noise', pattern(65536)],
  [
    'text',
    new TextEncoder().encode('the quick brown fox jumps over the lazy dog, '.repeat(1500)).subarray(0, 65536),
  ],
  ['a ramp', Uint8Array.from({ length: 65536 }, (_, i) => (i * i) >> 7)],
];

const native = nativeDecoder('inflate');
const decoders = {
  node: byNode,
  portable,
  ...(native ? { native } : {}),
};

describe.each(Object.entries(decoders))('inflate, %s', (_name, inflate) => {
  it.each(inputs)('decodes %s by every strategy, whatever follows', async (_what, bytes) => {
    for (const strategy of [
      constants.Z_DEFAULT_STRATEGY,
      constants.Z_FIXED,
      constants.Z_HUFFMAN_ONLY,
      constants.Z_RLE,
    ]) {
      for (const level of [0, 1, 9]) {
        const stored = deflateRawSync(bytes, { strategy, level });
        const padded = Buffer.concat([stored, pattern(700, 3)]);
        expect(Buffer.compare(await inflate(padded, Math.max(1, bytes.length)), bytes)).toBe(0);
      }
    }
  });

  it('rejects more than was asked for', async () => {
    await expect(inflate(deflateRawSync(new Uint8Array(1 << 20)), 65536)).rejects.toThrow();
    await expect(inflate(deflateRawSync(new Uint8Array(65537)), 65536)).rejects.toThrow();
  });
});

describe.skipIf(!native)('the native inflate (skipped without the addon)', () => {
  const decode = native as NonNullable<typeof native>;

  it('agrees with node:zlib on what is whole, on cut and damaged data', async () => {
    const bytes = inputs[4]?.[1] as Uint8Array;
    const stored = deflateRawSync(bytes);
    const outcome = (output: Uint8Array) =>
      output.length === 65536 ? Buffer.from(output).toString('hex') : 'wrong';
    const agree = async (input: Uint8Array) => {
      const [one, other] = await Promise.all(
        [byNode, decode].map((inflate) => inflate(input, 65536).then(outcome, () => 'wrong')),
      );
      expect(one === other).toBe(true);
    };
    for (let end = Math.max(0, stored.length - 40); end <= stored.length; end++)
      await agree(stored.subarray(0, end));
    await fc.assert(
      fc.asyncProperty(fc.nat(stored.length - 1), fc.nat(255), (at, value) => {
        const damaged = Uint8Array.from(stored);
        damaged[at] = value;
        return agree(damaged);
      }),
      { numRuns: 300 },
    );
  });

  it('writes into the memory it is given', async () => {
    const into = new Uint8Array(65536);
    expect(await decode(deflateRawSync(pattern(65536)), 65536, into)).toBe(into);
    expect(Buffer.compare(into, pattern(65536))).toBe(0);
  });
});

describe('the portable inflate', () => {
  it('agrees with zlib on damaged data, or rejects it', async () => {
    const bytes = inputs[4]?.[1] as Uint8Array;
    const stored = deflateRawSync(bytes);
    await fc.assert(
      fc.asyncProperty(fc.nat(stored.length - 1), fc.nat(255), async (at, value) => {
        const damaged = Uint8Array.from(stored);
        damaged[at] = value;
        const whole = (output: Uint8Array) =>
          output.length === 65536 ? Buffer.from(output).toString('hex') : 'wrong';
        const one = await byNode(damaged, 65536).then(whole, () => 'wrong');
        const other = await portable(damaged, 65536).then(whole, () => 'wrong');
        expect(one === other).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('has zstd beside it', async () => {
    const { compress, init } = await import('@bokuweb/zstd-wasm');
    await init();
    const decode = await loadZstd();
    for (const length of [1, 1000, 65536, 2 << 20]) {
      expect(Buffer.compare(await decode(compress(pattern(length)), length), pattern(length))).toBe(0);
    }
    const large = compress(new Uint8Array(64 << 20));
    await expect(decode(large.subarray(0, large.length - 1), 65536)).rejects.toThrow();
  });
});
