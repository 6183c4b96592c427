import {
  type BlockDriver,
  type CreateOptions,
  createRegistry,
  type MeasuredData,
  memory,
} from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { check, measure } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { newImage, openImage } from './overlay.ts';
import { MiB, noise, openFilled, registry } from './support.ts';

const keep = closing();

/** A format whose image is a cluster of metadata and its data. */
const format = {
  name: 'clustered',
  kind: 'format',
  help: 'a test',
  options: {},
  open: async () => Promise.reject(new Error('not here')),
  measure({ size, clusterSize = 65536 }: CreateOptions, data: MeasuredData) {
    const unit = clusterSize as number;
    return { required: unit + data.allocated(unit), fullyAllocated: unit + Math.ceil(size / unit) * unit };
  },
} as BlockDriver;

describe('measure', () => {
  it('of a raw image is its size', async () => {
    expect(await measure(1000)).toEqual({ required: 1000, fullyAllocated: 1000 });
    const node = await keep(openFilled(MiB, [{ offset: 70_000, length: 10 }]));
    expect(await measure(node)).toEqual({ required: MiB, fullyAllocated: MiB, data: 65536 });
  });

  it('of a format counts clusters that have data', async () => {
    expect(await measure(MiB, { format })).toEqual({ required: 65536, fullyAllocated: MiB + 65536 });
    const node = await keep(openImage(await newImage(MiB, 4096)));
    for (const offset of [0, 4096, 70_000, 1000_000]) await node.write(offset, noise(10, 1));
    await node.writeZeroes(49 * 4096, 8192);
    const sizes = await measure(node, { format });
    expect(sizes).toMatchObject({ required: 65536 * 4, data: 4096 * 4 });
    const small = await measure(node, { format, creation: { clusterSize: 4096 } });
    expect(small).toMatchObject({ required: 4096 * 5 });
  });

  it('tells what bitmaps take', async () => {
    const node = await keep(openImage(await newImage(MiB)));
    expect(await measure(node, { format })).toMatchObject({ bitmaps: 0 });
    await node.features.bitmaps?.add('b0');
    await node.features.bitmaps?.add('b1', { granularity: 131072 });
    // As `qemu-img measure -O qcow2` says of the same.
    expect(await measure(node, { format })).toMatchObject({ bitmaps: 327_680 });
    expect(await measure(node, { format, creation: { clusterSize: 4096 } })).toMatchObject({
      bitmaps: 20_480,
    });
  });
});

describe('check', () => {
  const result = { corruptions: 0, leaks: 1 };
  const checking = {
    ...format,
    check: async (_file: unknown, options: unknown) => ({ ...result, options }),
  } as unknown as BlockDriver;

  it("is the driver's, with its options", async () => {
    const drivers = createRegistry([memory(), checking] as BlockDriver[]);
    const file = await keep(drivers.openNode({ driver: 'memory', size: MiB }));
    const found = await check(drivers, file, { format: 'clustered', repair: 'leaks' });
    expect(found).toMatchObject({ leaks: 1, options: { repair: 'leaks' } });
  });

  it('is refused for a format without one, one that is not there, and a file that cannot be repaired', async () => {
    const file = await keep(registry.openNode({ driver: 'memory', size: MiB, readOnly: true }));
    await expect(check(registry, file, { format: 'raw' })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
    await expect(check(registry, file, { format: 'vmdk' })).rejects.toMatchObject({
      code: 'ERR_UNKNOWN_DRIVER',
    });
    const drivers = createRegistry([memory(), checking] as BlockDriver[]);
    await expect(check(drivers, file, { format: 'clustered', repair: 'all' })).rejects.toMatchObject({
      code: 'ERR_READ_ONLY',
    });
  });
});
