import type { BlockDriver, BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { qcow2 } from '../src/index.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, openNode, registry } from './support/open.ts';

const cluster = 65536;
const copied = 1n << 63n;

/** An image whose second cluster of the disk is said to be where something else is. */
function hostile(entry: (builder: ImageBuilder) => bigint): Uint8Array {
  const builder = new ImageBuilder({ size: 8 * cluster });
  builder.data(0, new Uint8Array(cluster).fill(7));
  builder.entry(cluster, entry(builder));
  return builder.build();
}

const entries: [string, (builder: ImageBuilder) => bigint][] = [
  ['the header, compressed', () => 1n << 62n],
  ['the L1 table', (builder) => copied | BigInt(builder.l1Offset)],
  ['its own L2 table', (builder) => copied | BigInt(builder.l2Offset(0))],
  ['no start of a cluster', (builder) => copied | BigInt(builder.l1Offset + 512)],
];

const works: [string, (node: BlockNode) => unknown][] = [
  ['a discard', (node) => node.discard(cluster, cluster)],
  ['zeroes', (node) => node.writeZeroes(cluster, cluster, { mayUnmap: true })],
  [
    'a compressed write',
    (node) => node.write(cluster, new Uint8Array(cluster).fill(1), { compressed: true }),
  ],
  ['emptying', (node) => node.features.makeEmpty?.()],
  ['a shrink', (node) => node.truncate(cluster, { shrink: true })],
];

describe('what an entry leads to is not given up', () => {
  const cases = entries.flatMap(([where, entry]) =>
    works.map(([what, work]) => ({ where, entry, what, work })),
  );

  it.each(cases)('when it is $where, by $what', async ({ entry, work }) => {
    const image = hostile(entry);
    const before = image.slice();
    const node = await openNode(image, { readOnly: false, discard: 'unmap' });
    await expect((async () => work(node))()).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
    await node.close().catch(() => {});
    // But for the mark in the header.
    expect(Buffer.compare(image.subarray(512), before.subarray(512))).toBe(0);
  });

  it.each([0x8080000000000000n, 0x4000ffffffffffffn])(
    'when it leads nowhere (%#): a snapshot is refused',
    async (entry) => {
      const node = await openNode(
        hostile(() => entry),
        { readOnly: false },
      );
      await expect(node.features.snapshots?.create('a')).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
      await node.close();
    },
  );
});

describe('a zero cluster with a place', () => {
  it.each([(builder: ImageBuilder) => builder.l1Offset, (builder: ImageBuilder) => builder.l2Offset(0)])(
    'that is a table is not zeroed for version 2 (%#)',
    async (place) => {
      const image = hostile((builder) => copied | BigInt(place(builder)) | 1n);
      const before = image.slice();
      const driver = qcow2() as unknown as BlockDriver;
      const file = await registry.openNode(inMemory(image));
      await expect(driver.amend?.(file, { compat: '0.10' })).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
      await file.close();
      expect(Buffer.compare(image, before)).toBe(0);
    },
  );
});

describe('an image whose refcounts are wrong', () => {
  it('is not cut behind what they count', async () => {
    const builder = new ImageBuilder({ size: 8 * cluster });
    builder.data(0, new Uint8Array(3 * cluster).fill(7));
    const image = builder.build();
    // The refcount table leads to no block any more.
    image.fill(0, builder.refcountTableOffset, builder.refcountTableOffset + 8);
    const node = await openNode(image, { readOnly: false });
    await node.features.makeEmpty?.();
    await node.close().catch(() => {});
    expect(node.children.file?.size).toBe(image.length);
  });
});
