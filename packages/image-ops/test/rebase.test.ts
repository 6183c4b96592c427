import { describe, expect, it } from 'vitest';
import { rebase } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { failAt, type Image, newImage, type OverlayNode, openImage } from './overlay.ts';
import { contents, noise } from './support.ts';

const keep = closing();
const K = 1024;
const size = 1024 * K;

const open = (image: Image, backing?: OverlayNode) => keep(openImage(image, backing));

const expectShown = async (node: OverlayNode, shown: Uint8Array) =>
  expect(Buffer.compare(await contents(node), shown)).toBe(0);

/** An overlay on one image, and another image that shares some of its content. */
async function sample(sizes: { old?: number; new?: number; over?: number } = {}) {
  const old = await open(await newImage(sizes.old ?? size));
  const next = await open(await newImage(sizes.new ?? size));
  await old.write(0, noise(200 * K, 1));
  await next.write(0, noise(200 * K, 1));
  await next.write(70 * K, noise(10, 2));
  await next.write(230 * K, noise(50 * K, 3));
  if (old.size > 500 * K) await old.write(400 * K, noise(100 * K, 4));
  if (next.size > 900 * K) await next.write(800 * K, noise(100 * K, 5));
  const over = await open(await newImage(sizes.over ?? size), old);
  await over.write(64 * K + 100, noise(100, 6));
  await over.writeZeroes(192 * K, 64 * K);
  const shown = await contents(over);
  return { old, next, over, shown };
}

const record = { name: 'new', format: 'overlay' };

describe('rebase', () => {
  it.each([
    {},
    { old: 600 * K + 7 },
    { new: 300 * K + 7 },
    { over: 1200 * K },
    { over: 555 * K },
    { old: 250 * K, new: 950 * K, over: 2000 * K },
  ])('keeps what the disk shows, with sizes %o', async (sizes) => {
    const { next, over, shown } = await sample(sizes);
    await rebase(over, { newBacking: next, ...record });
    expect(over.image.recorded).toEqual(record);
    await expectShown(over, shown);
    await expectShown(await open(over.image, next), shown);
  });

  it('writes only what differs', async () => {
    const { next, over } = await sample();
    const result = await rebase(over, { newBacking: next, ...record });
    // 64 KiB clusters that differ and are not the image's own: 256 to 320 KiB is zero, 384 to 512 data, 768 to 960 zero.
    expect(result).toMatchObject({ bytesWritten: 2 * 64 * K, bytesZeroWritten: 4 * 64 * K });
    expect(over.flushes).toBeGreaterThan(0);
  });

  it('to no backing file copies everything but zeroes', async () => {
    const { over, shown } = await sample();
    await rebase(over, { newBacking: undefined, name: undefined, format: undefined });
    expect(over.image.recorded).toEqual({ name: undefined, format: undefined });
    await expectShown(await open(over.image), shown);
    expect(over.image.clusters.has(12)).toBe(false);
  });

  it('reads nothing where both come from the same layer', async () => {
    const base = await newImage(size);
    const writer = await open(base);
    await writer.write(0, noise(size, 1));
    const mid = await open(await newImage(size), await open(base));
    await mid.write(300 * K, noise(10 * K, 2));
    const over = await open(await newImage(size), mid);
    const shown = await contents(over);
    const result = await rebase(over, { newBacking: await open(base), ...record });
    expect(result).toMatchObject({ bytesCompared: 64 * K, bytesWritten: 64 * K });
    await expectShown(await open(over.image, await open(base)), shown);
  });

  it('only records the name with unsafe', async () => {
    const { over } = await sample();
    const own = over.image.clusters.size;
    await rebase(over, { newBacking: undefined, ...record, unsafe: true });
    expect(over.image.recorded).toEqual(record);
    expect(over.image.clusters.size).toBe(own);
  });

  it('refuses a loop, an image that is read-only, and a name without its image', async () => {
    const { old, next, over } = await sample();
    const above = await open(await newImage(size), over);
    await expect(rebase(over, { newBacking: above, ...record })).rejects.toMatchObject({
      code: 'ERR_REFERENCE_CHAIN',
    });
    const closed = await keep(openImage(over.image, old, { readOnly: true }));
    await expect(rebase(closed, { newBacking: next, ...record })).rejects.toMatchObject({
      code: 'ERR_READ_ONLY',
    });
    await expect(rebase(over, { newBacking: undefined, ...record })).rejects.toThrow(TypeError);
    expect(over.image.recorded).toBeUndefined();
  });

  it('that fails at any request records nothing, and can be repeated', { timeout: 120_000 }, async () => {
    for (let k = 0; ; k++) {
      const { old, next, over, shown } = await sample();
      const count = failAt(k, [old, next, over]);
      const error = await rebase(over, { newBacking: next, ...record }).catch((error: unknown) => error);
      for (const node of [old, next, over]) node.before = undefined;
      if (count.seen <= k) break;
      expect(error).toMatchObject({ code: 'EIO' });
      expect(over.image.recorded).toBeUndefined();
      await expectShown(over, shown);
      await rebase(over, { newBacking: next, ...record });
      await expectShown(await open(over.image, next), shown);
    }
  });

  it('that is aborted records nothing', async () => {
    const { next, over, shown } = await sample();
    const controller = new AbortController();
    const reason = new Error('enough');
    over.before = (op) => void (op === 'write' && controller.abort(reason));
    await expect(rebase(over, { newBacking: next, ...record, signal: controller.signal })).rejects.toBe(
      reason,
    );
    over.before = undefined;
    expect(over.image.recorded).toBeUndefined();
    await expectShown(over, shown);
  });
});
