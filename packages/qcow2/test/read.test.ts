import { describe, expect, it } from 'vitest';
import { deflate, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { extents, openDisk, openNode, readAll, registry } from './support/open.ts';
import { Store, type StoreRead } from './support/store.ts';

const cases = [
  { version: 2 as const, clusterBits: 16 },
  { version: 3 as const, clusterBits: 9 },
  { version: 3 as const, clusterBits: 12, refcountOrder: 0 },
  { version: 3 as const, clusterBits: 16, refcountOrder: 6 },
  { version: 3 as const, clusterBits: 21, refcountOrder: 3 },
  { version: 3 as const, clusterBits: 14, extendedL2: true },
];

describe.each(cases)(
  'a made image $version, cluster_bits $clusterBits, extended L2 $extendedL2',
  (options) => {
    const cluster = 2 ** options.clusterBits;
    const size = cluster * 40 + 123;

    const make = () => {
      const image = new ImageBuilder({ ...options, size });
      const model = new Uint8Array(size);
      const put = (index: number, clusters: number) => {
        const bytes = pattern(cluster * clusters, index + 1);
        image.data(index * cluster, bytes);
        model.set(bytes.subarray(0, size - index * cluster), index * cluster);
      };
      put(1, 3);
      put(9, 1);
      put(10, 1);
      put(40, 1);
      if (options.version === 3) image.zero(20 * cluster, 2);
      const text = new Uint8Array(cluster).fill(7);
      image.compressed(30 * cluster, deflate(text));
      image.compressed(31 * cluster, deflate(text.fill(9)));
      model.fill(7, 30 * cluster, 31 * cluster).fill(9, 31 * cluster, 32 * cluster);
      return { image: image.build(), model };
    };

    it('reads every byte, and keeps the size to the byte', async () => {
      const { image, model } = make();
      const disk = await openDisk(image);
      expect(disk.size).toBe(size);
      const bytes = await disk.read(0, size);
      expect(Buffer.compare(bytes, model)).toBe(0);
      await disk.close();
    });

    it('reads any range into any vector', async () => {
      const { image, model } = make();
      const disk = await openDisk(image);
      for (const [offset, length] of [
        [cluster - 3, 7],
        [3 * cluster - 1, cluster * 8],
        [size - 1, 1],
        [29 * cluster + 5, 3 * cluster],
        [12, 1],
      ]) {
        const into = new Uint8Array(length as number).fill(0xaa);
        const cut = Math.floor((length as number) / 3);
        await disk.read(offset as number, [into.subarray(0, cut), into.subarray(cut)]);
        expect(
          Buffer.compare(into, model.subarray(offset as number, (offset as number) + (length as number))),
        ).toBe(0);
      }
      await disk.close();
    });
  },
);

describe('reading', () => {
  it("finishes at once when the mapping is known, in the caller's own memory", async () => {
    const builder = new ImageBuilder();
    builder.data(0, pattern(65536));
    builder.zero(65536);
    const image = builder.build();
    const node = await openNode(image);
    const into = new Uint8Array(4096);
    expect(node.read(100, into)).toBeUndefined();
    expect(into).toEqual(pattern(65536).slice(100, 4196));
    expect(node.read(65536 + 5, into.fill(1))).toBeUndefined();
    expect(into.every((byte) => byte === 0)).toBe(true);
    expect(node.read(65536 - 10, into)).toBeUndefined();
    expect(node.blockStatus(0, 65536)).not.toBeInstanceOf(Promise);
    await node.close();
  });

  it('makes one request of contiguous clusters, over several slices of the L2 table', async () => {
    const builder = new ImageBuilder({ clusterBits: 13, size: 16 << 20 });
    const bytes = pattern(8 << 20, 3);
    builder.data(8192, bytes);
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    const into = new Uint8Array(8 << 20);
    await node.read(8192, into);
    store.reads.length = 0;
    const parts = [into.subarray(0, 5000), into.subarray(5000)];
    await node.read(8192, parts);
    expect(store.reads).toHaveLength(1);
    const [read] = store.reads as [StoreRead];
    expect(read.length).toBe(8 << 20);
    for (const part of read.into as readonly Uint8Array[]) expect(part.buffer).toBe(into.buffer);
    expect(Buffer.compare(into, bytes)).toBe(0);
    await node.close();
    expect(store.open).toBe(0);
  });

  it('has several extents of one request in flight, and not too many', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: 512 * 200 });
    for (let i = 198; i >= 0; i -= 2) builder.data(i * 512, pattern(512, i));
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    const into = new Uint8Array(512 * 200);
    await node.read(0, into);
    expect(store.mostInFlight).toBe(16);
    for (let i = 0; i < 200; i += 2) expect(into.subarray(i * 512, i * 512 + 512)).toEqual(pattern(512, i));
    await node.close();
  });

  it('fails when one of its extents does, after the others have settled', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: 512 * 20 });
    let bad = 0;
    for (let i = 18; i >= 0; i -= 2) {
      const at = builder.data(i * 512, pattern(512, i));
      if (i === 4) bad = at;
    }
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    await node.read(0, new Uint8Array(1));
    store.failAt = bad;
    await expect(node.read(0, new Uint8Array(512 * 20))).rejects.toMatchObject({ code: 'EIO', offset: bad });
    expect(store.inFlight).toBe(0);
    await node.close();
  });

  it('reads zeroes for the missing tail of the last cluster of the file, and only there', async () => {
    const builder = new ImageBuilder({ size: 4 * 65536 });
    const image = builder.zero(0, 3).build();
    // Three clusters of data behind all else, the last of them cut short.
    const kept = pattern(3 * 65536 - 1000);
    const longer = new Uint8Array(image.length + kept.length);
    longer.set(image);
    longer.set(kept, image.length);
    const view = new DataView(longer.buffer);
    for (let i = 0; i < 3; i++)
      view.setBigUint64(builder.l2Offset(0) + 8 * i, BigInt(image.length + i * 65536));
    const bytes = await readAll(longer);
    expect(Buffer.compare(bytes.subarray(0, kept.length), kept)).toBe(0);
    expect(bytes.subarray(kept.length).every((byte) => byte === 0)).toBe(true);

    const cut = longer.slice(0, image.length + 2 * 65536);
    const missing = { code: 'ERR_IMAGE_TRUNCATED', offset: cut.length };
    await expect(readAll(cut)).rejects.toMatchObject(missing);
    const disk = await openDisk(cut);
    expect(Buffer.compare(await disk.read(0, 2 * 65536), kept.subarray(0, 2 * 65536))).toBe(0);
    await expect(disk.blockStatus(2 * 65536, 65536)).rejects.toMatchObject(missing);
    expect(await disk.blockStatus(0, 4 * 65536)).toMatchObject({ length: 2 * 65536, data: true });
    await disk.close();
  });

  it('keeps to the byte beyond 32 bits, of the disk and of the file', async () => {
    const guest = 2 ** 44 + 5 * 2 ** 21;
    const host = 2 ** 34 + 2 ** 33 + 2 ** 21;
    const builder = new ImageBuilder({ clusterBits: 21, size: 2 ** 45 });
    builder
      .entry(guest, (1n << 63n) | BigInt(host))
      .entry(guest + 2 ** 21, (1n << 63n) | BigInt(host + 2 ** 21));
    const stored = deflate(new Uint8Array(2 ** 21).fill(6));
    const packed = host + 2 ** 35 + 12345;
    const sectors = Math.floor((packed + stored.length - 1) / 512) - Math.floor(packed / 512);
    builder.entry(guest + 2 ** 22, (1n << 62n) | (BigInt(sectors) << 49n) | BigInt(packed));
    const file = await registry.openNode({ driver: 'memory', size: 2 ** 36 });
    await file.write(0, builder.build());
    await file.write(host + 1000, pattern(2 ** 21));
    await file.write(packed, stored);
    const disk = await registry.open({ driver: 'qcow2', readOnly: true, file });
    expect(Buffer.compare(await disk.read(guest + 1000, 2 ** 21), pattern(2 ** 21))).toBe(0);
    expect((await disk.read(guest + 2 ** 22, 2 ** 21)).every((byte) => byte === 6)).toBe(true);
    const told = (await extents(disk)).map(({ offset, length, data, hostOffset }) => [
      offset,
      length,
      data,
      hostOffset,
    ]);
    expect(told).toContainEqual([guest + 2 ** 22, 2 ** 21, true, undefined]);
    expect(told.find(([offset]) => offset === guest)).toMatchObject([guest, expect.any(Number), true, host]);
    expect(told.at(-1)).toEqual([guest + 3 * 2 ** 21, 2 ** 44 - 8 * 2 ** 21, false, undefined]);
    await disk.close();
    await file.close();
  });

  it('is not written when it is open for reading', async () => {
    const disk = await openDisk(new ImageBuilder().build());
    await expect(disk.write(0, new Uint8Array(512))).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
    await disk.close();
  });

  it('gives up when its signal says so', async () => {
    const builder = new ImageBuilder();
    builder.data(0, pattern(65536));
    const store = new Store({ a: builder.build() });
    const node = await store.node('a');
    const controller = new AbortController();
    const reading = node.read(0, new Uint8Array(65536), { signal: controller.signal });
    controller.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    await node.close();
  });
});
