import { describe, expect, it } from 'vitest';
import type { Qcow2Node } from '../src/index.ts';
import { MetadataCache } from '../src/metadata-cache.ts';
import { pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode, registry } from './support/open.ts';
import { Store } from './support/store.ts';

describe('the cache of L2 slices', () => {
  it('loads a slice once for all that miss it together', async () => {
    const builder = new ImageBuilder();
    builder.data(0, pattern(65536));
    const store = new Store({ a: builder.build() });
    const node = (await store.node('a')) as Qcow2Node;
    await Promise.all(Array.from({ length: 20 }, (_, i) => node.read(i * 100, new Uint8Array(10))));
    expect(node.metadataStats.sliceLoads).toBe(1);
    await node.close();
  });

  it('keeps to its budget, and lets the least recently used go', async () => {
    const file = await registry.openNode({ driver: 'memory', size: 4096 * 100 });
    const cache = new MetadataCache('an L2 table', file, 65536, 20 * 4096);
    for (let i = 0; i < 20; i++) cache.load(i * 4096);
    for (let i = 0; i < 10; i++) expect(cache.hit(i * 4096)?.offset).toBe(i * 4096);
    expect(cache.loads).toBe(20);
    for (let i = 20; i < 30; i++) cache.load(i * 4096);
    expect(cache.bytes).toBe(20 * 4096);
    for (let i = 0; i < 10; i++) expect(cache.hit(i * 4096)).toBeDefined();
    for (let i = 10; i < 20; i++) expect(cache.hit(i * 4096)).toBeUndefined();
    await file.close();
  });

  it('works for many at once with the smallest budget', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: 512 * 64 * 100 });
    for (let i = 0; i < 100; i++) builder.data(i * 64 * 512, pattern(512, i));
    const store = new Store({ a: builder.build() });
    const node = await store.node('a', { cacheSize: 0 });
    for (let round = 0; round < 3; round++) {
      const parts = Array.from({ length: 100 }, () => new Uint8Array(512));
      await Promise.all(parts.map((part, i) => node.read(i * 64 * 512, part)));
      for (const [i, part] of parts.entries()) expect(part).toEqual(pattern(512, i));
    }
    await node.close();
  });

  it('tries again after a failure', async () => {
    const builder = new ImageBuilder();
    builder.data(0, pattern(65536));
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    store.failAt = builder.l2Offset(0) + 5;
    await expect(node.read(0, new Uint8Array(10))).rejects.toMatchObject({ code: 'EIO' });
    await expect(node.blockStatus(0, 10)).rejects.toMatchObject({ code: 'EIO' });
    store.failAt = undefined;
    const into = new Uint8Array(10);
    await node.read(0, into);
    expect(into).toEqual(pattern(65536).slice(0, 10));
    await node.close();
  });
});

describe('block status', () => {
  it('of a large empty image takes a handful of steps', async () => {
    const node = await openNode(new ImageBuilder({ size: 100 * 2 ** 30 }).build());
    expect(node.blockStatus(0, node.size)).toMatchObject({ length: node.size, present: false });
    await node.close();
  });

  it('joins runs over the slices of a table and over tables', async () => {
    const builder = new ImageBuilder({ clusterBits: 12, size: 512 * 4096 * 4 });
    builder.zero(0, 512 * 3);
    const node = await openNode(builder.build());
    expect(await node.blockStatus(4096, node.size - 4096)).toMatchObject({
      length: 512 * 4096 * 3 - 4096,
      zero: true,
      present: true,
    });
    await node.close();
  });

  it('asks the file below only when that is mostly holes', async () => {
    const builder = new ImageBuilder({ size: 64 << 20 });
    for (let i = 0; i < 1000; i += 2) builder.data(i * 65536, pattern(16, i));
    const store = new Store({ a: builder.build() });
    const disk = await store.disk('a');
    let count = 0;
    for await (const _ of disk.extents()) count++;
    expect(count).toBeGreaterThan(900);
    expect(store.statuses).toBe(1);
    await disk.close();
  });

  it('tells zeroes of clusters that are holes of the file', async () => {
    const builder = new ImageBuilder({ size: 32 << 20 });
    const at = builder.data(0, new Uint8Array(32 << 20));
    const image = builder.build();
    const file = await registry.openNode({ driver: 'memory', size: image.length, discard: 'unmap' });
    await file.write(0, image);
    await file.writeZeroes(at, 32 << 20);
    await file.write(at + 65536 * 10, pattern(65536));
    const node = await registry.openNode({ driver: 'qcow2', readOnly: true, file });
    expect(await node.blockStatus(0, node.size)).toMatchObject({
      data: true,
      zero: true,
      length: 65536 * 10,
      hostOffset: at,
    });
    expect(await node.blockStatus(65536 * 10, 65536 * 2)).toMatchObject({
      data: true,
      zero: false,
      length: 65536,
    });
    await node.close();
    await file.close();
  });

  it('finds the place of the bytes through a window below', async () => {
    const builder = new ImageBuilder();
    const at = builder.data(0, pattern(65536));
    const image = builder.build();
    const store = new Store({ a: new Uint8Array(1000 + image.length) });
    store.files.get('a')?.set(image, 1000);
    const node = await store.node('a', {
      file: {
        driver: 'pass-through',
        file: { driver: 'raw', offset: 1000, file: { driver: 'store', name: 'a' } },
      },
    });
    const extent = await node.blockStatus(0, 65536);
    expect(extent.hostNode?.driver).toBe('store');
    expect(extent.hostOffset).toBe(at + 1000);
    await node.close();
  });
});
