import type { BlockNode, TruncateOptions } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { digest, Lab, type Made, snapshotsOf } from './support/transitions.ts';

const kib = 1024;
const layouts: [string, Made][] = [
  ['clusters of 512 bytes', { size: 100_001, clusterSize: 512 }],
  ['clusters of 64 KiB', { size: 1_000_001, clusterSize: 65536 }],
  ['version 2', { size: 100_001, clusterSize: 1024, compat: 'v2' }],
  ['extended L2', { size: 300_001, clusterSize: 16384, extendedL2: true }],
  ['a data file', { size: 100_001, clusterSize: 4096, dataFileRaw: false }],
  ['a raw data file', { size: 100_001, clusterSize: 4096, dataFileRaw: true }],
  ['a longer backing file', { size: 100_001, clusterSize: 4096, backing: pattern(250 * kib, 9) }],
  [
    'a longer backing file and version 2',
    { size: 100_001, clusterSize: 512, compat: 'v2', backing: pattern(250 * kib, 9) },
  ],
  [
    'a longer backing file and extended L2',
    { size: 100_001, clusterSize: 16384, extendedL2: true, backing: pattern(250 * kib, 9) },
  ],
];

const sound = { corruptions: 0, leaks: 0, findings: [] };

/** What a disk of that size holds, of what it held when it had `held`. */
function resized(held: Uint8Array, size: number): Uint8Array {
  const disk = new Uint8Array(size);
  disk.set(held.subarray(0, size));
  return disk;
}

const to = (lab: Lab, size: number, options: TruncateOptions = {}): Promise<void> =>
  lab.open((node) => node.truncate(size, options));

describe('a disk', () => {
  it.each(layouts)('grows with zeroes, and shrinks without a trace: %s', async (_name, made) => {
    const lab = await Lab.make(made);
    await lab.open((node) => node.write(made.size - 40_000, pattern(40_000, 1)));
    let held = await lab.read();
    for (const size of [
      made.size + 3,
      made.size + 1000,
      2 * made.size,
      777,
      50_000,
      513,
      3 * made.size,
      0,
      made.size,
    ]) {
      await to(lab, size, { shrink: true });
      held = resized(held, size);
      expect([size, (await lab.state()).disk]).toEqual([size, digest(held)]);
      expect(await lab.check()).toEqual(sound);
      if (size < 5000) continue;
      await lab.open((node) => node.write(size - 3000, pattern(3000, size)));
      held.set(pattern(3000, size), size - 3000);
    }
  });

  it.each(layouts)('grows with its clusters assigned: %s', async (_name, made) => {
    for (const preallocation of ['metadata', 'falloc', 'full'] as const) {
      const lab = await Lab.make(made);
      await lab.open((node) => node.write(0, pattern(1000, 1)));
      const held = await lab.read();
      const size = 2 * made.size;
      await to(lab, size, { preallocation });
      expect((await lab.state()).disk).toBe(digest(resized(held, size)));
      expect(await lab.check()).toEqual(sound);
      await lab.open(async (node) => {
        for (let at = made.size; at < size; ) {
          const extent = await node.blockStatus(at, size - at);
          expect(extent.depth).toBe(0);
          expect(extent.hostOffset).toBeGreaterThan(0);
          at += extent.length;
        }
      });
    }
  });

  it('does not show what a larger one left in compressed, shared or assigned clusters', async () => {
    const size = 64 * kib;
    for (const kind of ['compressed', 'shared', 'plain']) {
      const lab = await Lab.make({ size, clusterSize: 16384, extendedL2: kind === 'plain' });
      const cut = 40_000;
      await lab.open(async (node) => {
        for (let at = 0; at < size; at += 16384)
          await node.write(at, new Uint8Array(16384).fill(7), { compressed: kind === 'compressed' });
        if (kind === 'shared') await snapshotsOf(node).create('all');
        await node.truncate(cut, { shrink: true });
        await node.truncate(size);
      });
      const held = resized(new Uint8Array(cut).fill(7), size);
      expect((await lab.state()).disk).toBe(digest(held));
      if (kind === 'shared') expect(digest(await lab.read('1'))).toBe(digest(new Uint8Array(size).fill(7)));
      expect(await lab.check()).toEqual(sound);
    }
  });

  it('keeps its snapshots, whatever their size', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 512 });
    const disks: string[] = [];
    await lab.open(async (node: BlockNode) => {
      for (const size of [100_000, 300_000, 20_000, 80_000]) {
        await node.truncate(size, { shrink: true });
        await node.write(size / 2, pattern(size / 2, size));
        const disk = new Uint8Array(size);
        await node.read(0, disk);
        disks.push(digest(disk));
        await snapshotsOf(node).create(`${size}`);
      }
    });
    const { snapshots } = await lab.state();
    expect(snapshots.map(({ disk }) => disk)).toEqual(disks);
    expect(await lab.check()).toEqual(sound);
  });

  it('grows past what its refcount table can count', async () => {
    const lab = await Lab.make({ size: 1024 * kib, clusterSize: 512, refcountBits: 64 });
    const before = lab.image.length;
    await lab.open((node) => node.write(0, pattern(1024 * kib, 1)));
    await to(lab, 8192 * kib, { preallocation: 'metadata' });
    expect(lab.image.length).toBeGreaterThan(before + 8192 * kib);
    expect(await lab.check()).toEqual(sound);
    expect((await lab.state()).disk).toBe(digest(resized(pattern(1024 * kib, 1), 8192 * kib)));
    await lab.open(async (node) => {
      await snapshotsOf(node).create('a');
      await node.write(7000 * kib, pattern(1000 * kib, 2));
      await node.truncate(100 * kib, { shrink: true });
      await snapshotsOf(node).apply('a');
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('gives its storage back when it shrinks', async () => {
    const lab = await Lab.make({ size: 1024 * kib, clusterSize: 4096 });
    await lab.open((node) => node.write(0, pattern(1024 * kib, 1)));
    await to(lab, 8192, { shrink: true });
    expect(lab.image.length).toBeLessThan(100 * kib);
  });
});

describe('a change of size is refused', () => {
  it('where it would cut off data and does not say so', async () => {
    const lab = await Lab.make({ size: 100 * kib });
    await expect(to(lab, 10)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });

  it('in version 2 with snapshots', async () => {
    const lab = await Lab.make({ size: 100 * kib, compat: 'v2' });
    await lab.open(async (node) => {
      await snapshotsOf(node).create('a');
      await expect(node.truncate(200 * kib)).rejects.toThrow(/version 2 with snapshots/);
      await snapshotsOf(node).delete('a');
      await node.truncate(200 * kib);
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('above what its clusters can map', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 512 });
    await to(lab, 2 ** 37);
    await expect(to(lab, 2 ** 37 + 1)).rejects.toMatchObject({
      code: 'EFBIG',
      message: expect.stringContaining('137438953472'),
    });
    expect(await lab.check()).toEqual(sound);
  });
});
