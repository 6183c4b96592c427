import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encoderFor } from '../src/compress.ts';
import { decoderFor } from '../src/decompress.ts';
import { nativeEncoder } from '../src/platform/addon.ts';
import { codeLengths } from '../src/platform/code-lengths.ts';
import type { Encoder } from '../src/platform/encoder.ts';
import { inflateRaw } from '../src/platform/inflate.ts';
import * as node from '../src/platform/node.ts';
import * as portable from '../src/platform/portable.ts';
import { loadZstdWasmEncoder } from '../src/platform/zstd-wasm.ts';
import { zstdFrame } from '../src/zstd-frame.ts';
import { pattern } from './support/encode.ts';

const cluster = 65536;
const base64 = (length: number) =>
  new Uint8Array(Buffer.from(Buffer.from(pattern(length, 5)).toString('base64')).subarray(0, length));
const prose = (length: number) => {
  const words = 'the disk of a machine that was read once and is written again from here to there'.split(' ');
  const order = pattern(length, 9);
  let text = '';
  for (let i = 0; text.length < length; i++) text += `${words[(order[i] as number) % words.length]} `;
  return new Uint8Array(Buffer.from(text).subarray(0, length));
};
const halfNoise = (length: number) => {
  const bytes = new Uint8Array(length);
  bytes.set(pattern(length >> 1, 3));
  return bytes;
};
const cycle = (length: number, period: number) => {
  const once = pattern(period, 4);
  return Uint8Array.from({ length }, (_, i) => once[i % period] as number);
};

const contents: [string, (length: number) => Uint8Array][] = [
  ['zeroes', (length) => new Uint8Array(length)],
  ['one byte', (length) => new Uint8Array(length).fill(65)],
  ['prose', prose],
  ['base64', base64],
  ['half noise', halfNoise],
  ['a cycle of 300 bytes', (length) => cycle(length, 300)],
  ['a cycle of the whole window', (length) => cycle(length, 4096)],
];

/** Decoded as QEMU does it, with a window of 4 KiB, and as we do. */
async function decodedBack(stored: Uint8Array, content: Uint8Array): Promise<void> {
  expect(Buffer.compare(inflateRawSync(stored, { windowBits: 12 }), content)).toBe(0);
  expect(Buffer.compare(inflateRaw(stored, content.length), content)).toBe(0);
  expect(Buffer.compare(await decoderFor('zlib')(stored, content.length), content)).toBe(0);
}

const native = nativeEncoder('deflate');
const deflaters: [string, Encoder][] = [
  ['node:zlib', node.deflateByNode],
  ['TypeScript', portable.deflate],
  ...(native ? [['the native package', native] as [string, Encoder]] : []),
];

describe.each(deflaters)('deflate by %s', (_name, deflate) => {
  it.each(contents)('turns %s into what a decoder with a window of 4 KiB reads', async (_what, make) => {
    for (const length of [512, 4096, cluster, 1 << 21]) {
      const content = make(length);
      const stored = await deflate(content);
      if (!stored) continue;
      expect(stored.length).toBeLessThan(length);
      await decodedBack(stored, content);
    }
  });

  it('gives up on what does not get smaller', async () => {
    for (const length of [0, 1, 2, 3, 511, 512, cluster])
      expect(await deflate(pattern(length, 7))).toBeUndefined();
  });

  it('is within two hundredths of zlib itself', async () => {
    for (const make of [prose, base64, halfNoise]) {
      const content = make(cluster);
      const stored = (await deflate(content)) as Uint8Array;
      const usual = (await node.deflateByNode(content)) as Uint8Array;
      expect(stored.length / usual.length).toBeLessThan(1.02);
    }
  });

  it('works on many at once, and leaves the input alone', async () => {
    const content = Array.from({ length: 40 }, (_, i) => halfNoise(1000 + 577 * i));
    const copies = content.map((bytes) => bytes.slice());
    const stored = await Promise.all(content.map((bytes) => deflate(bytes)));
    for (let i = 0; i < content.length; i++) {
      expect(content[i]).toEqual(copies[i]);
      await decodedBack(stored[i] as Uint8Array, copies[i] as Uint8Array);
    }
  });

  it('comes back the same, whatever it was', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 9000 }))
        .map(([byte, length]) => new Uint8Array(length).fill(byte)),
      fc
        .tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 6000 }))
        .map(([seed, length]) => pattern(length, seed)),
      fc
        .tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 6000 }))
        .map(([seed, length]) => pattern(length, seed).map((byte) => byte & 15)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 30 }), async (pieces) => {
        const content = new Uint8Array(Buffer.concat(pieces));
        const stored = await deflate(content);
        if (stored) await decodedBack(stored, content);
      }),
      { numRuns: 150 },
    );
  });
});

describe('zstd', async () => {
  const nativeZstd = nativeEncoder('zstd');
  const encoders: [string, Encoder][] = [
    ['whatever is best here', encoderFor('zstd')],
    ['WebAssembly', await loadZstdWasmEncoder()],
    ...(nativeZstd ? [['the native package', nativeZstd] as [string, Encoder]] : []),
  ];

  it.each(encoders)('by %s comes back the same, in a window that fits the cluster', async (_name, encode) => {
    for (const [, make] of contents) {
      for (const length of [512, 4096, cluster, 1 << 21]) {
        const content = make(length);
        const stored = await encode(content);
        if (!stored) continue;
        expect(stored.length).toBeLessThan(length);
        expect(zstdFrame(stored)).toEqual({ length: stored.length, contentSize: length });
        expect(Buffer.compare(await decoderFor('zstd')(stored, length), content)).toBe(0);
      }
    }
  });

  it.each(encoders)('by %s gives up on what does not get smaller', async (_name, encode) => {
    for (const length of [0, 1, 2, 511, 512, cluster])
      expect(await encode(pattern(length, 7))).toBeUndefined();
  });
});

describe('codeLengths', () => {
  it('gives every symbol that occurs a place in a complete code, the commonest the shortest', () => {
    const counts = fc.array(
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 1 << 24 })),
      {
        minLength: 2,
        maxLength: 286,
      },
    );
    fc.assert(
      fc.property(counts, fc.constantFrom(9, 15), (list, most) => {
        const lengths = codeLengths(Uint32Array.from(list), most);
        let space = 0;
        for (const length of lengths) if (length > 0) space += 2 ** -length;
        expect(space).toBe(1);
        list.forEach((count, symbol) => {
          if (count > 0) expect(lengths[symbol]).toBeGreaterThan(0);
          list.forEach((other, second) => {
            if (count > other && other > 0)
              expect(lengths[symbol]).toBeLessThanOrEqual(lengths[second] as number);
          });
        });
      }),
      { numRuns: 200 },
    );
  });

  it('stays within the most, where counts grow like Fibonacci numbers', () => {
    const counts = [1, 1];
    while (counts.length < 30) counts.push((counts.at(-1) as number) + (counts.at(-2) as number));
    for (const most of [5, 7, 15]) {
      const lengths = codeLengths(Uint32Array.from(counts), most);
      expect(Math.max(...lengths)).toBe(most);
      expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
    }
  });
});

describe('the encoder in use', () => {
  it('is the best there is for Node', async () => {
    const content = prose(cluster);
    await decodedBack((await encoderFor('zlib')(content)) as Uint8Array, content);
  });
});
