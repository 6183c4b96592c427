import { describe, expect, it } from 'vitest';
import { info, map, measure } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { MiB, openFilled, openHooked, registry } from './support.ts';

const keep = closing();
const extents = async (iterable: AsyncIterable<{ offset: number; length: number; zero: boolean }>) => {
  const found: [number, number, boolean][] = [];
  for await (const { offset, length, zero } of iterable) found.push([offset, length, zero]);
  return found;
};

describe('map', () => {
  it('joins neighbours that say the same', async () => {
    const disk = await keep(openFilled(4 * MiB, [{ offset: MiB, length: MiB }]));
    disk.hooks.status = (extent) => ({ ...extent, length: Math.min(extent.length, 65536) });
    const expected = [
      [0, MiB, true],
      [MiB, MiB, false],
      [2 * MiB, 2 * MiB, true],
    ];
    expect(await extents(map(disk))).toEqual(expected);
  });

  it('of a range begins and ends there, and not past the end', async () => {
    const disk = await keep(openFilled(4 * MiB, [{ offset: MiB, length: MiB }]));
    expect(await extents(map(disk, { start: 2 * MiB - 1, length: 100 }))).toEqual([
      [2 * MiB - 1, 1, false],
      [2 * MiB, 99, true],
    ]);
    expect(await extents(map(disk, { start: 3 * MiB, length: 9 * MiB }))).toEqual([[3 * MiB, MiB, true]]);
    expect(await extents(map(disk, { start: 9 * MiB }))).toEqual([]);
    await expect(extents(map(disk, { start: -1 }))).rejects.toThrow(RangeError);
  });
});

describe('measure', () => {
  it('tells the sizes of a raw image', async () => {
    expect(await measure(1000)).toEqual({ required: 1000, fullyAllocated: 1000 });
    const disk = await keep(openFilled(4 * MiB, [{ offset: MiB, length: MiB }]));
    expect(await measure(disk)).toEqual({ required: 4 * MiB, fullyAllocated: 4 * MiB, data: MiB });
    expect(disk.reads).toEqual([]);
  });
});

describe('info', () => {
  it('tells of a raw image its sizes, and refuses formats by name', async () => {
    const disk = await keep(openHooked(MiB));
    expect(await info(registry, disk)).toMatchObject({ format: 'raw', virtualSize: MiB, fileSize: MiB });
    await expect(info(registry, disk, { format: 'nope' })).rejects.toMatchObject({
      code: 'ERR_UNKNOWN_DRIVER',
    });
    await disk.write(0, Uint8Array.from([0x1f, 0x8b, 8]));
    await expect(info(registry, disk)).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED_FEATURE',
      message: /gzip/,
    });
  });
});
