import { deflateRawSync } from 'node:zlib';
import { compress, init } from '@bokuweb/zstd-wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Qcow2Node } from '../src/index.ts';
import { zstdFrame } from '../src/zstd-frame.ts';
import { deflate, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openDisk, openNode, readAll } from './support/open.ts';
import { Store } from './support/store.ts';

const cluster = 65536;
/** Half noise, so that it compresses to something of a size. */
const half = (seed: number) => {
  const bytes = new Uint8Array(cluster).fill(seed);
  bytes.set(pattern(cluster / 2, seed));
  return bytes;
};

beforeAll(() => init());

describe('compressed clusters', () => {
  it('may have any length and place, cross clusters, and end with the file', async () => {
    const builder = new ImageBuilder({ size: 32 * cluster });
    for (let i = 0; i < 20; i++) builder.compressed(i * cluster, deflate(half(i + 1)));
    const image = builder.build();
    // The last is moved to the very end of the file, which then ends inside a sector.
    const stored = deflate(half(99));
    const at = image.length + 77;
    const longer = new Uint8Array(at + stored.length);
    longer.set(image);
    longer.set(stored, at);
    const sectors = Math.floor((at + stored.length - 1) / 512) - Math.floor(at / 512);
    const entry = (1n << 62n) | (BigInt(sectors) << 54n) | BigInt(at);
    new DataView(longer.buffer).setBigUint64(builder.l2Offset(0) + 20 * 8, entry);
    const bytes = await readAll(longer);
    for (let i = 0; i < 20; i++)
      expect(Buffer.compare(bytes.subarray(i * cluster, (i + 1) * cluster), half(i + 1))).toBe(0);
    expect(Buffer.compare(bytes.subarray(20 * cluster, 21 * cluster), half(99))).toBe(0);
  });

  it('are decoded once for many readers, and once for many small reads', async () => {
    const builder = new ImageBuilder();
    builder.compressed(0, deflate(half(1)));
    const store = new Store({ a: builder.build() });
    const node = (await store.node('a')) as Qcow2Node;
    const parts = Array.from({ length: 16 }, () => new Uint8Array(4096));
    await Promise.all(parts.map((part, i) => node.read(i * 4096, part)));
    expect(node.metadataStats.decodedClusters).toBe(1);
    expect(Buffer.compare(Buffer.concat(parts), half(1))).toBe(0);
    const again = new Uint8Array(100);
    expect(node.read(333, again)).toBeUndefined();
    expect(again).toEqual(half(1).slice(333, 433));
    expect(node.metadataStats.decodedClusters).toBe(1);
    await node.close();
  });

  it.each([0, 1])(
    'are right for readers of the whole and of parts at the same time (type %i)',
    async (compressionType) => {
      const builder = new ImageBuilder({ compressionType });
      const encode = compressionType === 0 ? deflate : compress;
      for (let i = 0; i < 4; i++) builder.compressed(i * cluster, encode(half(i + 1)));
      const node = (await new Store({ a: builder.build() }).node('a')) as Qcow2Node;
      const content = Buffer.concat([half(1), half(2), half(3), half(4)]);
      const ranges = [
        [0, cluster],
        [0, cluster],
        [0, 4 * cluster],
        [100, cluster],
        [cluster, cluster],
        [2 * cluster + 5, 10],
        [0, 4 * cluster],
      ] as const;
      for (let round = 0; round < 3; round++) {
        await Promise.all(
          ranges.map(async ([offset, length]) => {
            const memory = new Uint8Array(length + 200).fill(7);
            await node.read(offset, memory.subarray(100, 100 + length));
            expect(
              Buffer.compare(memory.subarray(100, 100 + length), content.subarray(offset, offset + length)),
            ).toBe(0);
            expect(memory.subarray(0, 100).every((byte) => byte === 7)).toBe(true);
            expect(memory.subarray(100 + length).every((byte) => byte === 7)).toBe(true);
            // What was read is the reader's own: nobody else is shown it.
            memory.fill(0);
          }),
        );
      }
      // However many want one cluster: once for the first, and once for all the others.
      const fresh = (await new Store({ a: builder.build() }).node('a')) as Qcow2Node;
      await fresh.read(3 * cluster, new Uint8Array(1));
      await Promise.all(Array.from({ length: 20 }, () => fresh.read(0, new Uint8Array(cluster))));
      expect(fresh.metadataStats.decodedClusters).toBeLessThanOrEqual(3);
      const vector = [new Uint8Array(1000), new Uint8Array(cluster - 1000)];
      await fresh.read(cluster, vector);
      expect(Buffer.compare(Buffer.concat(vector), half(2))).toBe(0);
      await node.close();
      await fresh.close();
    },
  );

  it('are decoded no more than so many at once', async () => {
    const builder = new ImageBuilder({ clusterBits: 21, size: 40 << 21 });
    for (let i = 0; i < 40; i++) builder.compressed(i << 21, deflate(new Uint8Array(1 << 21).fill(i)));
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    await node.read(0, new Uint8Array(1));
    store.mostInFlight = 0;
    await Promise.all(Array.from({ length: 40 }, (_, i) => node.read(i << 21, new Uint8Array(10))));
    expect(store.mostInFlight).toBeLessThanOrEqual(4);
    await node.close();
  });

  it('work by zstd, with and without padding behind the frame', async () => {
    const builder = new ImageBuilder({ compressionType: 1 });
    builder.compressed(0, compress(half(1)));
    const padded = new Uint8Array(70000).fill(0xff);
    const frame = compress(half(2));
    padded.set(frame);
    builder.compressed(cluster, padded.subarray(0, Math.min(70000, frame.length + 3000)));
    const bytes = await readAll(builder.build());
    expect(Buffer.compare(bytes.subarray(0, 2 * cluster), Buffer.concat([half(1), half(2)]))).toBe(0);
  });

  const garbage = pattern(5000, 5);
  const cases: [string, number, () => Uint8Array][] = [
    ['garbage, zlib', 0, () => garbage],
    ['garbage, zstd', 1, () => garbage],
    ['zeroes, zlib', 0, () => new Uint8Array(2000)],
    ['too short, zlib', 0, () => deflate(new Uint8Array(cluster - 1))],
    ['too short, zstd', 1, () => compress(new Uint8Array(cluster - 1))],
    ['too long, zlib', 0, () => deflate(new Uint8Array(cluster + 1))],
    ['too long, zstd', 1, () => compress(new Uint8Array(cluster + 1))],
    ['a bomb, zlib', 0, () => new Uint8Array(deflateRawSync(Buffer.alloc(60 << 20), { level: 9 }))],
    ['a bomb, zstd', 1, () => compress(new Uint8Array(64 << 20))],
    ['a bomb that does not say its size, zstd', 1, () => bomb(20000)],
    ['cut short, zlib', 0, () => deflate(half(3)).subarray(0, 20000)],
    ['cut short, zstd', 1, () => compress(half(3)).subarray(0, 20000)],
  ];

  it.each(cases)('that hold %s are an error in bounded memory', async (_name, compressionType, make) => {
    const builder = new ImageBuilder({ compressionType });
    const stored = make().subarray(0, 2 * cluster);
    builder.compressed(0, stored);
    builder.data(cluster, pattern(cluster));
    const disk = await openDisk(builder.build());
    const before = process.memoryUsage();
    await expect(disk.read(0, 10)).rejects.toMatchObject({
      code: 'ERR_CORRUPT',
      offset: 0,
      message: expect.stringContaining('65536'),
    });
    const after = process.memoryUsage();
    expect(after.arrayBuffers + after.external - before.arrayBuffers - before.external).toBeLessThan(
      32 << 20,
    );
    // The rest of the image stays readable.
    expect(await disk.read(cluster, 10)).toEqual(pattern(cluster).slice(0, 10));
    await disk.close();
  });

  it('placed past the end of the file are an error with the offset, for status too', async () => {
    const builder = new ImageBuilder();
    const image = builder.entry(0, (1n << 62n) | (1n << 54n) | (1n << 40n)).build();
    const node = await openNode(image);
    expect(() => node.blockStatus(0, 1)).toThrow(
      expect.objectContaining({ code: 'ERR_IMAGE_TRUNCATED', offset: 2 ** 40 }),
    );
    expect(() => node.read(0, new Uint8Array(1))).toThrow(
      expect.objectContaining({ code: 'ERR_IMAGE_TRUNCATED' }),
    );
    await node.close();
  });

  it('placed over the header or a table are an error', async () => {
    for (const at of [0, 100, 65536, 65536 + 77]) {
      const node = await openNode(new ImageBuilder().entry(0, (1n << 62n) | BigInt(at)).build());
      expect(() => node.read(0, new Uint8Array(1))).toThrow(expect.objectContaining({ code: 'ERR_CORRUPT' }));
      await node.close();
    }
  });
});

/** Blocks of one repeated byte, 128 KiB each for four bytes of input. */
function bomb(blocks: number): Uint8Array {
  const bytes = new Uint8Array(6 + blocks * 4);
  bytes.set([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x80]);
  for (let i = 0; i < blocks; i++) {
    const header = (131072 << 3) | 2 | (i === blocks - 1 ? 1 : 0);
    bytes.set([header & 255, (header >> 8) & 255, header >> 16, 7], 6 + i * 4);
  }
  return bytes;
}

describe('zstdFrame', () => {
  it('finds the end of a frame and its content size', () => {
    for (const length of [0, 1, 255, 256, 65791, 65792, 300000]) {
      const frame = compress(pattern(length), 3);
      const more = new Uint8Array(frame.length + 50).fill(0xff);
      more.set(frame);
      expect(zstdFrame(more)).toEqual({ length: frame.length, contentSize: length });
      for (let cut = Math.max(0, frame.length - 6); cut < frame.length; cut++)
        expect(zstdFrame(more.subarray(0, cut))).toBeUndefined();
    }
    expect(zstdFrame(bomb(3))).toEqual({ length: 18, contentSize: undefined });
  });
});
