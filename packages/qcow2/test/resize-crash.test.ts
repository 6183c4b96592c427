import type { BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { Lab, type Made, snapshotsOf } from './support/transitions.ts';

const kib = 1024;
const layouts: [string, Made][] = [
  ['clusters of 512 bytes', { size: 30_002, clusterSize: 512 }],
  ['version 2', { size: 30_002, clusterSize: 1024, compat: 'v2' }],
  ['extended L2', { size: 60_002, clusterSize: 16384, extendedL2: true }],
  ['a longer backing file', { size: 30_002, clusterSize: 512, backing: pattern(80 * kib, 9) }],
  [
    'a longer backing file and version 2',
    { size: 30_002, clusterSize: 512, compat: 'v2', backing: pattern(80 * kib, 9) },
  ],
  ['a raw data file', { size: 30_002, clusterSize: 4096, dataFileRaw: true }],
];

const steps = (size: number): ((node: BlockNode) => Promise<unknown>)[] => [
  (node) => node.truncate(2 * size),
  (node) => node.truncate(3 * size, { preallocation: 'metadata' }),
  (node) => node.truncate(size - 1234, { shrink: true }),
  (node) => node.truncate(size + 100),
];

const write = async (node: BlockNode) => await node.write(0, pattern(5000, 3));

async function prepare(made: Made): Promise<Lab> {
  const lab = await Lab.make(made);
  await lab.open(async (node) => {
    await node.write(made.size / 2, pattern(made.size / 2, 1));
    if (made.compat === 'v2' || made.dataFileRaw) return;
    await snapshotsOf(node).create('a');
    await node.write(made.size - 2000, pattern(2000, 2));
  });
  return lab;
}

describe('a power cut leaves the disk in one size or the other', () => {
  it.each(layouts)('%s', async (_name, made) => {
    const lab = await prepare(made);
    for (const step of steps(made.size)) expect(await lab.cut(step)).toBeGreaterThan(2);
    expect(await lab.check()).toMatchObject({ corruptions: 0, leaks: 0 });
  });
});

describe('a fault of the file below while the size changes', () => {
  it.each(layouts)('changes nothing, and does no lasting harm: %s', async (_name, made) => {
    const lab = await prepare(made);
    for (const step of steps(made.size)) await lab.fail(step, (node) => write(node));
    expect(await lab.check()).toMatchObject({ corruptions: 0, leaks: 0 });
  });
});
