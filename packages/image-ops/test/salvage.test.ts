import { BlockError } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { LostRanges } from '../src/convert/lost-ranges.ts';
import { convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { newImage, openImage } from './overlay.ts';
import { contents, MiB, openFilled, openHooked, type Range } from './support.ts';

const keep = closing();

const touches = (bad: readonly Range[], offset: number, length: number) =>
  bad.some((range) => offset < range.offset + range.length && range.offset < offset + length);

async function broken(size: number, bad: readonly Range[]) {
  const source = await keep(openFilled(size, [{ offset: 0, length: size }]));
  const expected = await contents(source);
  for (const { offset, length } of bad) expected.fill(0, offset, offset + length);
  source.hooks.before = (op, offset, length) => {
    if (op === 'read' && touches(bad, offset, length))
      throw Object.assign(new Error('bad sector'), { code: 'EIO' });
  };
  return { source, expected };
}

describe('salvage', () => {
  it('loses the sectors that cannot be read, and lists them', async () => {
    const bad = [
      { offset: 0, length: 512 },
      { offset: MiB - 512, length: 1536 },
      { offset: 3 * MiB + 512 * 7, length: 512 },
      { offset: 5 * MiB, length: 100 },
    ];
    const size = 5 * MiB + 100;
    const { source, expected } = await broken(size, bad);
    const target = await keep(openHooked(size));
    const result = await convert(source, target, { targetIsZero: true, salvage: true });
    expect(result.lost).toEqual({
      bytes: 512 + 1536 + 512 + 100,
      ranges: bad.map((range) => ({ ...range, reason: expect.stringMatching(/bad sector/) })),
      complete: true,
    });
    expect(Buffer.compare(await contents(target), expected)).toBe(0);
  });

  it('joins what touches, in whatever order requests fail', async () => {
    const size = 6 * MiB;
    const { source } = await broken(size, [{ offset: 0, length: size }]);
    const fail = source.hooks.before;
    let turn = 0;
    source.hooks.before = async (op, offset, length) => {
      if (op === 'read' && turn++ % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      return fail?.(op, offset, length);
    };
    const result = await convert(source, await keep(openHooked(size)), { salvage: true, concurrency: 4 });
    const ranges = [{ offset: 0, length: size, reason: expect.any(String) }];
    expect(result.lost).toEqual({ bytes: size, ranges, complete: true });
  });

  it('keeps the first ranges of very many, and says so', () => {
    const count = 60_000;
    const error = new BlockError('EIO', 'bad');
    const lost = new LostRanges();
    const order = Array.from({ length: count }, (_, i) => (i % 64) * 900 + Math.floor(i / 64)).filter(
      (i) => i < count,
    );
    for (const i of order) lost.add(i * 1024, 512, error);
    const { bytes, ranges, complete } = lost.summary();
    expect(bytes).toBe(order.length * 512);
    expect(complete).toBe(false);
    expect(ranges.length).toBe(10_000);
    expect(ranges.map(({ offset }) => offset)).toEqual(
      order
        .toSorted((a, b) => a - b)
        .slice(0, 10_000)
        .map((i) => i * 1024),
    );
  });

  it('tries no less than a cluster where the image is damaged', async () => {
    const size = 4 * MiB;
    const source = await keep(openImage(await newImage(size)));
    await source.write(0, new Uint8Array(size).fill(1));
    const bad = [{ offset: MiB, length: 128 << 10 }];
    let failed = 0;
    source.before = (op, offset, length) => {
      if (op !== 'read' || !touches(bad, offset, length)) return;
      failed++;
      throw new BlockError('ERR_CORRUPT', 'a bad table');
    };
    const result = await convert(source, await keep(openHooked(size)), { salvage: true });
    expect(result.lost).toEqual({
      bytes: 128 << 10,
      ranges: [{ ...bad[0], reason: 'a bad table' }],
      complete: true,
    });
    expect(failed).toBeLessThan(12);
  });

  it('says that nothing was lost', async () => {
    const { source, expected } = await broken(MiB, []);
    const target = await keep(openHooked(MiB));
    const result = await convert(source, target, { salvage: true });
    expect(result.lost).toEqual({ bytes: 0, ranges: [], complete: true });
    expect(Buffer.compare(await contents(target), expected)).toBe(0);
  });

  it('reads where the block status cannot be told', async () => {
    const { source, expected } = await broken(MiB, []);
    source.hooks.before = (op, offset, length) => {
      if (
        op === 'blockStatus' &&
        touches([{ offset: 300_000, length: 100_000 }], offset, Math.min(length, 4096))
      )
        throw Object.assign(new Error('no table'), { code: 'EIO' });
    };
    const target = await keep(openHooked(MiB));
    const result = await convert(source, target, { targetIsZero: true, salvage: true });
    expect(result.lost?.bytes).toBe(0);
    expect(Buffer.compare(await contents(target), expected)).toBe(0);
  });

  it('does not hide a failure that is not of the medium, nor one of the target', async () => {
    const { source } = await broken(MiB, []);
    const target = await keep(openHooked(MiB));
    source.hooks.before = (op) => {
      if (op === 'read') throw new BlockError('ERR_NODE_CLOSED', 'closed');
    };
    await expect(convert(source, target, { salvage: true })).rejects.toMatchObject({
      code: 'ERR_NODE_CLOSED',
    });
    source.hooks.before = () => undefined;
    target.hooks.before = (op) => {
      if (op === 'write') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    await expect(convert(source, target, { salvage: true })).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('stops at an abort', async () => {
    const { source } = await broken(MiB, [{ offset: 0, length: MiB }]);
    const controller = new AbortController();
    const { before } = source.hooks;
    let reads = 0;
    source.hooks.before = (op, offset, length) => {
      if (op === 'read' && ++reads === 20) controller.abort(new Error('enough'));
      return before?.(op, offset, length);
    };
    const work = convert(source, await keep(openHooked(MiB)), { salvage: true, signal: controller.signal });
    await expect(work).rejects.toThrow('enough');
    expect(reads).toBeLessThan(25);
  });
});
