import type { BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { Lab, type Made, snapshotsOf } from './support/transitions.ts';

const kib = 1024;
const layouts: [string, Made][] = [
  ['clusters of 512 bytes', { size: 30 * kib, clusterSize: 512 }],
  ['1 KiB and version 2', { size: 60 * kib, clusterSize: 1024, compat: 'v2' }],
  ['extended L2', { size: 200 * kib, clusterSize: 16384, extendedL2: true }],
  ['4-bit refcounts', { size: 30 * kib, clusterSize: 512, refcountBits: 4 }],
  ['64-bit refcounts', { size: 30 * kib, clusterSize: 512, refcountBits: 64 }],
];

async function write(node: BlockNode, seed: number): Promise<void> {
  const { size } = node;
  await node.write(0, pattern(size / 3, seed));
  await node.write(size / 2 + 77, pattern(size / 4, seed + 1));
}

describe('a power cut leaves the snapshots and the disk as they were before or after', () => {
  it.each(layouts)('%s', async (_name, made) => {
    const lab = await Lab.make(made);
    await lab.open(async (node) => {
      await write(node, 1);
      await snapshotsOf(node).create('first');
      await node.write(100, pattern(made.size / 10, 5));
      await snapshotsOf(node).create('second');
      await node.write(made.size / 4, pattern(made.size / 10, 6));
    });
    const steps: ((node: BlockNode) => Promise<unknown>)[] = [
      (node) => snapshotsOf(node).create('third'),
      (node) => snapshotsOf(node).apply('first'),
      (node) => snapshotsOf(node).delete('first'),
      (node) => snapshotsOf(node).delete('third'),
      (node) => snapshotsOf(node).delete('second'),
    ];
    for (const step of steps) expect(await lab.cut(step)).toBeGreaterThan(4);
    expect(await lab.check()).toMatchObject({ corruptions: 0, leaks: 0 });
  });

  it('is noticed by this test where the file below lies about flushes', async () => {
    const lab = await Lab.make({ size: 30 * kib, clusterSize: 512 });
    await lab.open((node) => write(node, 1));
    lab.lie();
    await expect(lab.cut((node) => snapshotsOf(node).create('a'), 30)).rejects.toThrow(/power cut at/);
  });
});

describe('a fault of the file below while snapshots change', () => {
  it.each(layouts.slice(0, 3))('changes nothing, and does no lasting harm: %s', async (_name, made) => {
    const lab = await Lab.make(made);
    await lab.open(async (node) => {
      await write(node, 1);
      await snapshotsOf(node).create('first');
      await node.write(100, pattern(made.size / 10, 5));
    });
    const steps: ((node: BlockNode) => Promise<unknown>)[] = [
      (node) => snapshotsOf(node).create('second'),
      (node) => snapshotsOf(node).apply('first'),
      (node) => snapshotsOf(node).delete('first'),
    ];
    for (const step of steps) await lab.fail(step, (node) => write(node, 9));
    expect(await lab.check()).toMatchObject({ corruptions: 0, leaks: 0 });
  });
});
