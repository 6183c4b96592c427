import { describe, expect, it } from 'vitest';
import { convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { failAt, newImage, type OverlayNode, openImage } from './overlay.ts';
import { contents, expectSame, MiB, noise, openFilled, openHooked } from './support.ts';

const keep = closing();
const K = 1024;

const clusters = (node: OverlayNode) => [...node.image.clusters.keys()].sort((a, b) => a - b);

describe('convert to a format with clusters', () => {
  it('cuts zeroes and data at them', async () => {
    const source = await keep(openFilled(MiB, [{ offset: 0, length: MiB }]));
    await source.write(68 * K, new Uint8Array(56 * K));
    await source.write(190 * K, new Uint8Array(140 * K));
    const target = await keep(openImage(await newImage(MiB)));
    const result = await convert(source, target, { targetIsZero: true });
    expect(result.bytesZeroDetected).toBe(128 * K);
    for (const { offset } of target.writes) expect(offset % (64 * K)).toBe(0);
    await expectSame(source, target);
  });

  it('writes zeroes over what a target holds, and leaves what is beyond', async () => {
    const source = await keep(openFilled(300 * K, [{ offset: 0, length: 100 * K }]));
    const target = await keep(openImage(await newImage(MiB)));
    await target.write(0, noise(MiB, 9));
    await convert(source, target);
    const now = await contents(target);
    expect(Buffer.compare(now.subarray(0, 300 * K), await contents(source))).toBe(0);
    expect(Buffer.compare(now.subarray(300 * K), noise(MiB, 9).subarray(300 * K))).toBe(0);
  });
});

describe('convert compressed', () => {
  it('writes whole clusters, several at once, and no zeroes', async () => {
    const size = 5 * MiB + 100;
    const source = await keep(
      openFilled(size, [
        { offset: 0, length: 2 * MiB },
        { offset: 4 * MiB, length: MiB + 100 },
      ]),
    );
    await source.write(64 * K, new Uint8Array(64 * K));
    const target = await keep(openImage(await newImage(size)));
    target.before = () => new Promise((resolve) => setImmediate(resolve));
    await convert(source, target, { targetIsZero: true, compressed: true });
    expect(target.writes.every(({ compressed }) => compressed)).toBe(true);
    expect(target.writes.every(({ offset, length }) => length === 64 * K || offset + length === size)).toBe(
      true,
    );
    expect(target.writes.length).toBe(31 + 17);
    expect(target.mostCompressing).toBeGreaterThan(15);
    expect(target.mostCompressing).toBeLessThanOrEqual(32);
    target.before = undefined;
    await expectSame(source, target);
  });

  it('begins them in the order of the disk', async () => {
    const source = await keep(
      openFilled(9 * MiB, [{ offset: 0, length: 9 * MiB }], { before: () => Promise.resolve() }),
    );
    const target = await keep(openImage(await newImage(9 * MiB)));
    await convert(source, target, { targetIsZero: true, compressed: true });
    const offsets = target.writes.map(({ offset }) => offset);
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  });

  it('stores a last part that is no whole cluster of a larger target uncompressed', async () => {
    const source = await keep(openFilled(100 * K, [{ offset: 0, length: 100 * K }]));
    const target = await keep(openImage(await newImage(MiB)));
    await convert(source, target, { targetIsZero: true, compressed: true });
    expect(target.writes.map(({ compressed }) => compressed)).toEqual([true, false]);
  });

  it('works with clusters larger than the memory asked for', async () => {
    const source = await keep(openFilled(5 * MiB, [{ offset: 0, length: 5 * MiB }]));
    const target = await keep(openImage(await newImage(5 * MiB, 2 * MiB)));
    await convert(source, target, { targetIsZero: true, compressed: true, bufferBytes: 65536 });
    expect(target.writes.map(({ length }) => length)).toEqual([2 * MiB, 2 * MiB, MiB]);
    await expectSame(source, target);
  });

  it('is refused by a target that cannot', async () => {
    const node = await keep(openHooked(MiB));
    await expect(convert(node, node, { compressed: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: expect.stringMatching(/compressed/),
    });
  });

  it('that fails at any request settles, and flushes nothing', { timeout: 120_000 }, async () => {
    const source = await keep(openFilled(MiB, [{ offset: 0, length: MiB }]));
    for (let k = 0; ; k++) {
      const target = await keep(openImage(await newImage(MiB)));
      const count = failAt(k, [target], ['write', 'flush']);
      const error = await convert(source, target, { targetIsZero: true, compressed: true }).catch(
        (error) => error,
      );
      if (count.seen <= k) break;
      expect(error).toMatchObject({ code: 'EIO' });
      expect(target.compressing).toBe(0);
      expect(target.flushes).toBe(0);
    }
  });
});

describe('convert over a backing file', () => {
  async function sample() {
    const base = await newImage(MiB);
    const writer = await keep(openImage(base));
    await writer.write(0, noise(512 * K, 1));
    const mid = await keep(openImage(await newImage(MiB), await keep(openImage(base))));
    await mid.write(64 * K, noise(64 * K, 2));
    const top = await keep(openImage(await newImage(MiB), mid));
    await top.write(130 * K, noise(10, 3));
    await top.writeZeroes(192 * K, 64 * K);
    await top.writeZeroes(768 * K, 64 * K);
    // What is in the backing file, once more.
    await top.write(320 * K, noise(512 * K, 1).subarray(320 * K, 384 * K));
    return { base, mid, top };
  }

  it('that is in the chain of the source copies the layers above it', async () => {
    const { base, top } = await sample();
    const target = await keep(openImage(await newImage(MiB), await keep(openImage(base))));
    const result = await convert(top, target, { backing: true });
    await expectSame(top, target);
    expect(clusters(target)).toEqual([1, 2, 3, 5]);
    expect(result.bytesRead).toBe(3 * 64 * K);
    expect(result.bytesBacked).toBe(MiB - 4 * 64 * K);
  });

  it('that has other content compares', async () => {
    const { top } = await sample();
    const other = await keep(openImage(await newImage(800 * K)));
    await other.write(0, noise(256 * K, 1));
    await other.write(700 * K, noise(100 * K, 5));
    const target = await keep(openImage(await newImage(MiB), other));
    await convert(top, target, { backing: true });
    await expectSame(top, target);
    expect(clusters(target)).toEqual([1, 2, 3, 4, 5, 6, 7, 10, 11, 12]);
  });

  it('copies a source without layers as it is', async () => {
    const { base, top } = await sample();
    const flat = await keep(openHooked(MiB));
    await flat.write(0, (await contents(top)).subarray(0, 512 * K));
    const target = await keep(openImage(await newImage(MiB), await keep(openImage(base))));
    await convert(flat, target, { backing: true });
    await expectSame(flat, target);
    expect(clusters(target)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('does not skip what the target has itself', async () => {
    const { base, top } = await sample();
    const target = await keep(openImage(await newImage(MiB), await keep(openImage(base))));
    await target.write(0, noise(MiB, 77));
    await convert(top, target, { backing: true, compressed: true });
    await expectSame(top, target);
  });

  it('between clusters of other sizes', async () => {
    const { base, top } = await sample();
    for (const clusterSize of [16 * K, 256 * K]) {
      const target = await keep(
        openImage(await newImage(MiB + 5 * K, clusterSize), await keep(openImage(base))),
      );
      await convert(top, target, { backing: true });
      const now = await contents(target);
      expect(Buffer.compare(now.subarray(0, MiB), await contents(top))).toBe(0);
    }
  });

  it('is not a target that is zero', async () => {
    const { top } = await sample();
    await expect(convert(top, top, { backing: true, targetIsZero: true })).rejects.toThrow(TypeError);
  });
});

describe('convert with bitmaps', () => {
  async function pair() {
    const source = await keep(openImage(await newImage(MiB)));
    const target = await keep(openImage(await newImage(MiB)));
    const store = source.features.bitmaps;
    await store?.add('one', { granularity: 4096, recording: true });
    await store?.add('two', { recording: false });
    source.image.bitmaps.get('one')?.bits.add(3);
    return { source, target };
  }

  it('copies their names, granularity, state and marks', async () => {
    const { source, target } = await pair();
    const result = await convert(source, target, { bitmaps: true });
    expect(result.bitmaps).toEqual({ copied: ['one', 'two'], skipped: [] });
    expect(await target.features.bitmaps?.list()).toEqual(await source.features.bitmaps?.list());
    expect(await target.features.bitmaps?.nextDirty('one', 0)).toEqual({ offset: 12288, length: 4096 });
  });

  it('fails for one that is inconsistent before it writes, or skips it', async () => {
    const { source, target } = await pair();
    Object.assign(source.image.bitmaps.get('two') as object, { inconsistent: true });
    await source.write(0, noise(K, 1));
    await expect(convert(source, target, { bitmaps: true })).rejects.toMatchObject({
      code: 'ERR_INVALID_IMAGE',
      message: expect.stringMatching(/'two'/),
    });
    expect(target.writes).toEqual([]);
    const result = await convert(source, target, { bitmaps: true, skipBrokenBitmaps: true });
    expect(result.bitmaps).toEqual({ copied: ['one'], skipped: ['two'] });
  });

  it('is refused where one side keeps none, and names the bitmap that fails', async () => {
    const { source, target } = await pair();
    const plain = await keep(openHooked(MiB));
    await expect(convert(plain, target, { bitmaps: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
    await expect(convert(source, plain, { bitmaps: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
    await target.features.bitmaps?.add('two');
    await expect(convert(source, target, { bitmaps: true })).rejects.toThrow(/copying the bitmap 'two'/);
  });
});

describe('convert over a backing file that fails', () => {
  it('at any request settles, and flushes nothing', { timeout: 120_000 }, async () => {
    for (let k = 0; ; k++) {
      const old = await keep(openImage(await newImage(512 * K)));
      await old.write(0, noise(512 * K, 1));
      const source = await keep(openImage(await newImage(512 * K), old));
      await source.write(100 * K, noise(100 * K, 2));
      const behind = await keep(openImage(await newImage(512 * K)));
      await behind.write(0, noise(300 * K, 1));
      const target = await keep(openImage(await newImage(512 * K), behind));
      let last = -1;
      const count = failAt(k, [old, source, behind, target]);
      const options = { backing: true, onProgress: ({ done }: { done: number }) => (last = done) };
      const error = await convert(source, target, options).catch((error: unknown) => error);
      for (const node of [old, source, behind, target]) node.before = undefined;
      if (count.seen <= k) {
        expect(last).toBe(512 * K);
        await expectSame(source, target);
        break;
      }
      expect(error).toMatchObject({ code: 'EIO', offset: expect.any(Number) });
      expect(target.flushes).toBe(0);
    }
  });
});
