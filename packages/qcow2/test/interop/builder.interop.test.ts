import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { deflate, pattern } from '../support/encode.ts';
import { ImageBuilder } from '../support/image-builder.ts';
import { readAll } from '../support/open.ts';
import { interop, Workspace } from './qemu.ts';

interop('images made by the test builder', () => {
  const space = new Workspace();

  it.each([
    { clusterBits: 9 },
    { clusterBits: 16, version: 2 as const },
    { clusterBits: 12, refcountOrder: 0 },
    { clusterBits: 16, refcountOrder: 6 },
    { clusterBits: 21 },
    { clusterBits: 15, extendedL2: true },
  ])('are without fault to qemu-img check and read the same there: %o', async (options) => {
    const cluster = 2 ** options.clusterBits;
    const builder = new ImageBuilder({ ...options, size: 50 * cluster });
    builder.data(3 * cluster, pattern(2 * cluster));
    builder.compressed(20 * cluster, deflate(new Uint8Array(cluster).fill(5)));
    // Compressed clusters share clusters of the file, and snapshots share all: one bit cannot count that.
    if (options.refcountOrder !== 0)
      builder.compressed(21 * cluster, deflate(new Uint8Array(cluster).fill(6)));
    if (options.version !== 2) {
      builder.zero(30 * cluster, 3);
      builder.zeroPlaced(33 * cluster);
    }
    if (options.extendedL2) builder.subclusters(40 * cluster, pattern(cluster), 0x00ff00f0, 0x0f000000);
    if (options.refcountOrder !== 0) {
      builder.snapshot('1', 'one');
      builder.data(3 * cluster, pattern(cluster, 4));
    }
    const image = builder.build();
    writeFileSync(space.path('made.qcow2'), image);
    expect(space.img('check', 'made.qcow2')).toContain('No errors were found');
    space.img('convert', '-O', 'raw', 'made.qcow2', 'made.raw');
    expect(Buffer.compare(await readAll(image), readFileSync(space.path('made.raw')))).toBe(0);
  });
});
