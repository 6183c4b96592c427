import { createHash } from 'node:crypto';
import type { BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { checkImage } from '../src/check/check-image.ts';
import { inspect, parseHeader, qcow2 } from '../src/index.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { contentOf, journaled, powerCuts } from './support/journal.ts';
import { inMemory, readAll, registry } from './support/open.ts';

const amend = async (file: BlockNode, options: Record<string, unknown>): Promise<void> =>
  await qcow2().amend?.(file, options);

const cluster = 512;
const pattern = (byte: number, clusters = 1) => new Uint8Array(clusters * cluster).fill(byte);

interface Start {
  refcountOrder?: number;
  snapshots?: boolean;
  backing?: boolean;
}

/** A small image with every kind of entry that an amendment may have to do with. */
function start({ refcountOrder = 4, snapshots = false, backing = false }: Start): Uint8Array {
  const builder = new ImageBuilder({
    clusterBits: 9,
    size: 100 * cluster,
    refcountOrder,
    ...(backing ? { backingFile: 'base', backingFormat: 'raw' } : {}),
  });
  builder.data(0, pattern(1, 3));
  builder.zero(5 * cluster, 2);
  builder.zeroPlaced(9 * cluster);
  builder.data(70 * cluster, pattern(2));
  builder.zero(72 * cluster);
  if (snapshots) {
    builder.snapshot('1', 'first');
    builder.data(0, pattern(3));
    builder.zero(2 * cluster);
    builder.zeroPlaced(20 * cluster);
    builder.snapshot('2', 'second');
    builder.data(71 * cluster, pattern(4));
  }
  return builder.build();
}

/** All that the image shows: its disk and its snapshots, over a backing file of its own. */
async function shown(image: Uint8Array): Promise<string[]> {
  const header = parseHeader(image);
  const backing = header.backingFile === undefined ? null : behind;
  const { file } = await journaled(image);
  const { snapshots = [] } = await inspect(file);
  const views = [{}, ...snapshots.map(({ id }) => ({ snapshot: id }))];
  const contents = await Promise.all(views.map((view) => readAll(image, { backing, ...view })));
  return contents.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
}
const behind = { driver: 'raw', file: inMemory(new Uint8Array(100 * cluster).fill(0x77)) };

async function sound(image: Uint8Array, leaksToo = false): Promise<void> {
  const { file } = await journaled(image);
  const { corruptions, leaks, findings } = await checkImage(file);
  expect({ corruptions, leaks: leaksToo ? 0 : leaks }, findings.join('\n')).toEqual({
    corruptions: 0,
    leaks: 0,
  });
}

const cases: [string, Start, Record<string, unknown>][] = [
  ['to version 2', {}, { compat: '0.10' }],
  ['to version 2, with a backing file', { backing: true }, { compat: '0.10' }],
  ['to version 2, with snapshots', { snapshots: true }, { compat: '0.10' }],
  ['to version 2, with both', { snapshots: true, backing: true }, { compat: '0.10' }],
  ['to refcounts of 1 bit', {}, { refcountBits: 1 }],
  ['to refcounts of 2 bits', { snapshots: true }, { refcountBits: 2 }],
  ['to refcounts of 64 bits', { snapshots: true, backing: true }, { refcountBits: 64 }],
  [
    'to refcounts of 16 bits and version 2',
    { refcountOrder: 6, snapshots: true, backing: true },
    { refcountBits: 16, compat: 'v2' },
  ],
  ['to lazy refcounts', {}, { lazyRefcounts: true }],
];

describe('an image that is amended', () => {
  it.each(cases)('%s shows what it did and is sound', async (_name, from, options) => {
    const image = start(from);
    await sound(image);
    const before = await shown(image);
    const { file, journal } = await journaled(image);
    await amend(file, options);
    const after = await contentOf(file);
    await sound(after);
    expect(await shown(after)).toEqual(before);
    expect(parseHeader(after)).toMatchObject({
      version: options.compat ? 2 : 3,
      ...(options.refcountBits ? { refcountBits: options.refcountBits } : {}),
    });
    for (const torn of powerCuts(image, journal.entries, 24)) {
      await sound(torn, true);
      expect(await shown(torn)).toEqual(before);
    }
  });

  it.each(cases)('%s is sound after any request that fails', async (_name, from, options) => {
    const image = start(from);
    const before = await shown(image);
    for (let fail = 0; ; fail++) {
      const { file, journal } = await journaled(image);
      journal.failFrom = fail;
      const failed = await amend(file, options).then(
        () => false,
        () => true,
      );
      if (!failed) break;
      journal.failFrom = Number.POSITIVE_INFINITY;
      const left = await contentOf(file);
      await sound(left, true);
      expect(await shown(left)).toEqual(before);
      await amend(file, options);
      await sound(await contentOf(file), true);
      expect(await shown(await contentOf(file))).toEqual(before);
    }
  });

  it('can go up and down again', async () => {
    const image = start({ snapshots: true });
    const { file } = await journaled(image);
    for (const options of [
      { compat: 'v2' },
      { compat: 'v3', refcountBits: 8 },
      { refcountBits: 16, compat: 'v2' },
    ]) {
      await amend(file, options);
      await sound(await contentOf(file));
      expect(await shown(await contentOf(file))).toEqual(await shown(image));
    }
  });
});

describe('amending', () => {
  it('makes snapshots of old programs say how large the disk was', async () => {
    const builder = new ImageBuilder({ version: 2, clusterBits: 9, size: 100 * cluster });
    builder.data(0, pattern(1, 3));
    builder.snapshot('1', 'old', { extraBytes: 0 });
    builder.snapshot('2', 'new', { extraBytes: 16 });
    const image = builder.build();
    const before = await shown(image);
    const { file, journal } = await journaled(image);
    await amend(file, { compat: '1.1' });
    const after = await contentOf(file);
    await sound(after);
    expect(await shown(after)).toEqual(before);
    const { snapshots } = await inspect(file);
    expect(snapshots?.map(({ name, diskSize }) => [name, diskSize])).toEqual([
      ['old', 100 * cluster],
      ['new', 100 * cluster],
    ]);
    for (const torn of powerCuts(image, journal.entries, 40)) {
      await sound(torn, true);
      expect(await shown(torn)).toEqual(before);
    }
  });

  it('goes on after the last cluster of a device', async () => {
    const image = start({ snapshots: true, backing: true });
    const before = await shown(image);
    const data = new Uint8Array(image.length + 200 * cluster).fill(0xee);
    data.set(image);
    const node = await registry.openNode({
      driver: 'raw',
      size: data.length,
      file: { driver: 'memory', data },
    });
    await amend(node, { compat: '0.10' });
    await sound(await contentOf(node));
    expect(await shown(await contentOf(node))).toEqual(before);
    const full = await registry.openNode({
      driver: 'raw',
      size: image.length,
      file: inMemory(image.slice()),
    });
    await expect(amend(full, { refcountBits: 64 })).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('repairs an image that was not closed, and refuses one that is marked corrupt', async () => {
    const dirty = new ImageBuilder({ clusterBits: 9, size: 4096, incompatible: 1n, compatible: 1n }).build();
    const { file } = await journaled(dirty);
    await amend(file, { lazyRefcounts: false });
    expect(parseHeader(await contentOf(file))).toMatchObject({ dirty: false, lazyRefcounts: false });
    const { file: marked } = await journaled(new ImageBuilder({ size: 4096, incompatible: 2n }).build());
    await expect(amend(marked, { lazyRefcounts: true })).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
  });
});

describe('amending is refused', () => {
  const refused = async (image: Uint8Array, options: Record<string, unknown>, why: RegExp) => {
    const { file } = await journaled(image);
    await expect(amend(file, options)).rejects.toThrow(why);
    expect(Buffer.compare(await contentOf(file), image)).toBe(0);
  };

  it('where version 2 has no place for what the image has', async () => {
    const down = { compat: '0.10' };
    await refused(
      start({ refcountOrder: 5 }),
      down,
      /refcounts have 32 bits.*change refcountBits to 16 as well/,
    );
    await refused(new ImageBuilder({ size: 1 << 20, extendedL2: true }).build(), down, /extended L2/);
    await refused(new ImageBuilder({ size: 1 << 20, compressionType: 1 }).build(), down, /zstd/);
    await refused(new ImageBuilder({ size: 1 << 20, dataFile: 'x' }).build(), down, /external file/);
    await refused(start({}), { ...down, lazyRefcounts: true }, /lazyRefcounts needs compat '1.1'/);
  });

  it('where a cluster would become the own of the disk in the same instant', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: 40 * cluster });
    builder.zeroPlaced(cluster);
    builder.snapshot('1', 'zero');
    builder.data(0, pattern(1));
    const image = builder.build();
    const entry = builder.l2Offset(0) + 8 + 7;
    image[entry] = (image[entry] as number) & ~1;
    await sound(image);
    await refused(
      image,
      { compat: '0.10' },
      /a snapshot has zeroes where it keeps the cluster at \d+, which the disk uses too/,
    );
  });

  it('where a count does not fit', async () => {
    await refused(
      start({ snapshots: true }),
      { refcountBits: 1 },
      /has \d references.*1 bits holds at most 1/,
    );
    await refused(start({}), { refcountBits: 3 }, /refcountBits is 3/);
  });

  it('for what only new images can choose, and what there is not', async () => {
    await refused(start({}), { clusterSize: 4096 }, /clusterSize is for new images only/);
    await refused(start({}), { backingFile: 'x' }, /rebase the image/);
    await refused(start({}), { colour: 'red' }, /no such option; it has compat, dataFile/);
    await refused(start({}), { dataFile: 'x' }, /it has none/);
    await refused(start({}), { dataFileRaw: true }, /cannot be set on an image that exists/);
  });
});
