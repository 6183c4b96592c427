import type { BitmapStore, BlockNode } from '@blockyard/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { autoclear, readBitmaps, readHeader } from '../src/index.ts';
import { patched, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, registry } from './support/open.ts';
import { type Files, Lab, snapshotsOf } from './support/transitions.ts';
import { PowerCuts } from './trust/machine/power-cut.ts';
import { Random } from './trust/random.ts';

const kib = 1024;
const sound = { corruptions: 0, leaks: 0, findings: [] };
const bitmapsOf = (node: BlockNode): BitmapStore => node.features.bitmaps as BitmapStore;

async function rangesOf(store: BitmapStore, name: string): Promise<[start: number, end: number][]> {
  const found: [number, number][] = [];
  for (let at = 0; ; ) {
    const range = await store.nextDirty(name, at);
    if (!range) return found;
    at = range.offset + range.length;
    found.push([range.offset, at]);
  }
}

/** What an image in memory tells of its bitmaps, read anew. */
async function told(image: Uint8Array): Promise<Record<string, unknown>> {
  const node = await registry.openNode({ driver: 'qcow2', readOnly: true, file: inMemory(image.slice()) });
  try {
    const found: Record<string, unknown> = {};
    for (const { name, inconsistent } of await bitmapsOf(node).list())
      found[name] = inconsistent ? 'inconsistent' : await rangesOf(bitmapsOf(node), name);
    return found;
  } finally {
    await node.close();
  }
}

describe('bitmaps', () => {
  it('tell what was written, given zeroes and discarded since they were made', async () => {
    const lab = await Lab.make({ size: 1000 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await node.write(0, pattern(64 * kib));
      await bitmapsOf(node).add('a');
      await bitmapsOf(node).add('b', { granularity: 64 * kib, recording: false });
      await node.write(5000, pattern(10));
      await node.writeZeroes(100 * kib, 8 * kib);
      await node.discard(200 * kib, 4 * kib);
      await node.write(300 * kib, new Uint8Array(4096).fill(7), { compressed: true });
      expect(await bitmapsOf(node).list()).toEqual([
        { name: 'a', granularity: 4096, recording: true, inconsistent: false, dirtyBytes: 20 * kib },
        { name: 'b', granularity: 65536, recording: false, inconsistent: false, dirtyBytes: 0 },
      ]);
    });
    const a = [
      [4 * kib, 8 * kib],
      [100 * kib, 108 * kib],
      [200 * kib, 204 * kib],
      [300 * kib, 304 * kib],
    ];
    expect(await told(lab.image)).toEqual({ a, b: [] });
    expect(await lab.check()).toEqual(sound);
    await lab.open(async (node) => {
      await bitmapsOf(node).enable('b');
      await node.write(999 * kib, pattern(kib));
    });
    expect(await told(lab.image)).toEqual({
      a: [...a, [996 * kib, 1000 * kib]],
      b: [[960 * kib, 1000 * kib]],
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('stay as they are in an image that is opened and not written', async () => {
    const lab = await Lab.make({ size: 1000 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await bitmapsOf(node).add('a');
      await node.write(0, pattern(10));
    });
    const before = lab.image;
    await lab.open(async (node) => {
      await node.read(0, new Uint8Array(100));
      expect(await bitmapsOf(node).nextDirty('a', 0)).toEqual({ offset: 0, length: 4096 });
      expect(await bitmapsOf(node).nextDirty('a', 100)).toEqual({ offset: 100, length: 3996 });
      expect(await bitmapsOf(node).nextDirty('a', 4096)).toBeUndefined();
      expect(await bitmapsOf(node).nextDirty('a', 2 ** 50)).toBeUndefined();
    });
    expect(Buffer.compare(lab.image, before)).toBe(0);
  });

  it('are marked as in use before the first write, and not before', async () => {
    const lab = await Lab.make({ size: 1000 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      for (const name of ['on', 'off', 'gone', 'stopped'])
        await bitmapsOf(node).add(name, { recording: name !== 'off' });
    });
    await lab.open(async (node) => {
      const store = bitmapsOf(node);
      await store.remove('gone');
      await store.disable('stopped');
      expect(await told(lab.image)).toEqual({ on: [], off: [], gone: [], stopped: [] });
      await node.write(0, pattern(10));
      const [gone, on, stopped] = ['inconsistent', 'inconsistent', 'inconsistent'];
      expect(await told(lab.image)).toEqual({ on, gone, stopped, off: [] });
      await store.enable('off');
      expect(await told(lab.image)).toEqual({ on, gone, stopped, off: 'inconsistent' });
      await node.write(8192, pattern(10));
    });
    expect(await told(lab.image)).toEqual({
      on: [
        [0, 4096],
        [8192, 12288],
      ],
      off: [[8192, 12288]],
      stopped: [],
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('that were in use at a crash say nothing, and can only be removed', async () => {
    const lab = await Lab.make({ size: 1000 * kib, clusterSize: 4096 });
    await lab.open((node) => bitmapsOf(node).add('a'));
    let crashed: Uint8Array = new Uint8Array(0);
    await lab.open(async (node) => {
      await node.write(0, pattern(10));
      crashed = lab.image;
    });
    const node = await registry.openNode({ driver: 'qcow2', readOnly: false, file: inMemory(crashed) });
    const store = bitmapsOf(node);
    const [only] = await store.list();
    expect(only).toEqual({
      name: 'a',
      granularity: 4096,
      recording: true,
      inconsistent: true,
      dirtyBytes: 0,
    });
    await store.add('b');
    const refused = { code: 'ERR_NOT_SUPPORTED', message: expect.stringContaining('only be removed') };
    for (const work of [
      () => store.clear('a'),
      () => store.enable('a'),
      () => store.disable('a'),
      () => store.merge('a', 'b'),
      () => store.merge('b', 'a'),
      () => store.nextDirty('a', 0),
      () => node.truncate(2000 * kib),
    ])
      await expect(work()).rejects.toMatchObject(refused);
    await expect(store.add('a')).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await node.write(0, pattern(10));
    await store.remove('a');
    await store.add('a');
    await node.close();
  });

  it.each([512, 4096, 65536])('come back the same, with clusters of %i bytes', async (clusterSize) => {
    const size = 3_000_001;
    const granularities = [512, 1024, 4096, 65536, 1 << 20, 2 ** 31];
    const nameOf = (granularity: number) => `every ${granularity}`;
    const range = fc.tuple(
      fc.integer({ min: 0, max: size - 1 }),
      fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 2_000_000 })),
      fc.constantFrom('write', 'zero', 'discard'),
    );
    const turn = fc.record({
      ranges: fc.array(range, { minLength: 1, maxLength: 4 }),
      cleared: fc.option(fc.constantFrom(...granularities)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const lab = await Lab.make({ size, clusterSize });
        const models = new Map(granularities.map((one) => [one, Array(Math.ceil(size / one)).fill(false)]));
        await lab.open(async (node) => {
          for (const granularity of granularities)
            await bitmapsOf(node).add(nameOf(granularity), { granularity });
        });
        for (const { ranges, cleared } of turns) {
          await lab.open(async (node) => {
            for (const [at, most, how] of ranges) {
              // What of a discard is no whole cluster is not done.
              const offset = how === 'discard' ? Math.floor(at / clusterSize) * clusterSize : at;
              const length = Math.min(
                how === 'discard' ? Math.ceil(most / clusterSize) * clusterSize : most,
                size - offset,
              );
              if (how === 'write') await node.write(offset, pattern(length));
              else if (how === 'zero') await node.writeZeroes(offset, length);
              else await node.discard(offset, length);
              for (const [one, bits] of models)
                bits.fill(true, Math.floor(offset / one), Math.floor((offset + length - 1) / one) + 1);
            }
            if (cleared === null) return;
            await bitmapsOf(node).clear(nameOf(cleared));
            models.get(cleared)?.fill(false);
          });
          await lab.open(async (node) => {
            for (const { name, granularity, dirtyBytes } of await bitmapsOf(node).list()) {
              const bits = models.get(granularity) as boolean[];
              expect(dirtyBytes).toBe(bits.filter(Boolean).length * granularity);
              const found = Array(bits.length).fill(false);
              for (const [start, end] of await rangesOf(bitmapsOf(node), name))
                found.fill(true, start / granularity, Math.ceil(end / granularity));
              expect(found).toEqual(bits);
            }
          });
        }
        expect(await lab.check()).toEqual(sound);
      }),
      { numRuns: 8 },
    );
  });

  it('that are all set take no clusters but those of their tables', async () => {
    const lab = await Lab.make({ size: 64 << 20, clusterSize: 512 });
    await lab.open((node) => bitmapsOf(node).add('a', { granularity: 512 }));
    const before = lab.image.length;
    await lab.open((node) => node.discard(0, 64 << 20));
    expect(lab.image.length - before).toBeLessThan(16 * kib);
    expect(await told(lab.image)).toEqual({ a: [[0, 64 << 20]] });
    expect(await lab.check()).toEqual(sound);
  });

  it('come and go without the file growing', async () => {
    const lab = await Lab.make({ size: 1000 * kib, clusterSize: 512 });
    const sizes = new Set<number>();
    for (let i = 0; i < 12; i++) {
      await lab.open(async (node) => {
        await bitmapsOf(node).add('a', { granularity: 512 });
        await node.write(0, pattern(1000 * kib));
      });
      await lab.open((node) => node.write(500 * kib, pattern(10)));
      await lab.open((node) => bitmapsOf(node).remove('a'));
      if (i > 3) sizes.add(lab.image.length);
    }
    expect(sizes.size).toBe(1);
    expect(await lab.check()).toEqual(sound);
    const { header } = await parsed(lab.image);
    expect(header.autoclearFeatures).toBe(0n);
    expect(header.extensions.some(({ name }) => name === 'bitmaps')).toBe(false);
  });

  it('grow and shrink with the disk', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 512 });
    await lab.open(async (node) => {
      const store = bitmapsOf(node);
      await store.add('a', { granularity: 4096 });
      await store.add('off', { granularity: 512, recording: false });
      await node.write(90 * kib, pattern(10 * kib));
      await node.truncate(9000 * kib);
      expect(await rangesOf(store, 'a')).toEqual([[88 * kib, 100 * kib]]);
      await node.write(8999 * kib, pattern(kib));
    });
    expect(await told(lab.image)).toEqual({
      a: [
        [88 * kib, 100 * kib],
        [8996 * kib, 9000 * kib],
      ],
      off: [],
    });
    expect(await lab.check()).toEqual(sound);
    await lab.open((node) => node.truncate(95 * kib, { shrink: true }));
    expect(await told(lab.image)).toEqual({ a: [[88 * kib, 95 * kib]], off: [] });
    await lab.open(async (node) => {
      await expect(node.truncate(50 * kib)).rejects.toThrow();
      await node.truncate(200 * kib);
    });
    expect(await told(lab.image)).toEqual({ a: [[88 * kib, 96 * kib]], off: [] });
    expect(await lab.check()).toEqual(sound);
  });

  it('note every one of many writes at once', async () => {
    const lab = await Lab.make({ size: 4096 * kib, clusterSize: 4096 });
    await lab.open((node) => bitmapsOf(node).add('a', { granularity: 4096 }));
    await lab.open(async (node) => {
      await Promise.all(
        Array.from({ length: 256 }, (_, i) => node.write(i * 16 * kib, pattern(5000, i + 1))),
      );
    });
    const expected = Array.from({ length: 256 }, (_, i) => [i * 16 * kib, i * 16 * kib + 8 * kib]);
    expect(await told(lab.image)).toEqual({ a: expected });
  });

  it('miss no write, and lose no change, while they are being stored again and again', async () => {
    const lab = await Lab.make({ size: 4096 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await snapshotsOf(node).create('s');
      await bitmapsOf(node).add('a', { granularity: 4096 });
    });
    await lab.open(async (node) => {
      const work: unknown[] = [];
      for (let i = 0; i < 200; i++) {
        work.push(node.write(i * 16 * kib, pattern(5000, i + 1)));
        if (i % 10 === 3)
          work.push(
            snapshotsOf(node)
              .apply('s')
              .catch(() => {}),
          );
        if (i % 20 === 5) work.push(bitmapsOf(node).add(`b${i}`), bitmapsOf(node).disable(`b${i}`));
        if (i % 40 === 17) work.push(bitmapsOf(node).remove(`b${i - 12}`));
      }
      await Promise.all(work);
    });
    const expected = Array.from({ length: 200 }, (_, i) => [i * 16 * kib, i * 16 * kib + 8 * kib]);
    const found = await told(lab.image);
    expect(found.a).toEqual(expected);
    expect(Object.keys(found)).toEqual(['a', 'b25', 'b65', 'b105', 'b145', 'b185']);
    expect(await lab.check()).toEqual(sound);
  });
});

const parsed = async (image: Uint8Array) => {
  const file = await registry.openNode(inMemory(image.slice()));
  const header = await readHeader(file);
  return { header, bitmaps: await readBitmaps(header, file) };
};

describe('merging bitmaps', () => {
  const open = (image: Uint8Array) =>
    registry.openNode({ driver: 'qcow2', readOnly: false, file: inMemory(image) });
  const image = () => new ImageBuilder({ size: 1000 * kib, clusterBits: 12 }).build();

  it.each([
    [512, 512],
    [512, 65536],
    [65536, 512],
    [4096, 2 ** 20],
  ])('works from granularity %i to %i, in one image and from another', async (from, to) => {
    const [one, other] = [await open(image()), await open(image())];
    for (const node of [one, other]) {
      await bitmapsOf(node).add('from', { granularity: from });
      await bitmapsOf(node).add('to', { granularity: to, recording: false });
    }
    await one.write(100_000, pattern(700));
    await other.write(900_000, pattern(70_000));
    const covered = (start: number, end: number): [number, number] => {
      const out = (at: number, unit: number, up: boolean) =>
        (up ? Math.ceil(at / unit) : Math.floor(at / unit)) * unit;
      return [
        out(out(start, from, false), to, false),
        Math.min(one.size, out(Math.min(one.size, out(end, from, true)), to, true)),
      ];
    };
    const first = covered(100_000, 100_700);
    const second = covered(900_000, 970_000);
    await bitmapsOf(one).merge('to', 'from');
    expect(await rangesOf(bitmapsOf(one), 'to')).toEqual([first]);
    await bitmapsOf(one).merge('to', 'from', other);
    const both = first[1] >= second[0] ? [[first[0], second[1]]] : [first, second];
    expect(await rangesOf(bitmapsOf(one), 'to')).toEqual(both);
    await bitmapsOf(one).merge('to', 'to');
    expect(await rangesOf(bitmapsOf(one), 'to')).toEqual(both);
    // Those of another kind of image, of which nothing is known but what the contract says.
    const { list, nextDirty } = bitmapsOf(other);
    const foreign = { list: list.bind(bitmapsOf(other)), nextDirty: nextDirty.bind(bitmapsOf(other)) };
    const stranger = { size: other.size, path: '', features: { bitmaps: foreign } } as unknown as BlockNode;
    await bitmapsOf(one).clear('to');
    await bitmapsOf(one).merge('to', 'from', stranger);
    expect(await rangesOf(bitmapsOf(one), 'to')).toEqual([second]);
    await one.close();
    await other.close();
  });

  it('is refused where there is none, or the disks have different sizes', async () => {
    const one = await open(image());
    const larger = await open(new ImageBuilder({ size: 1001 * kib }).build());
    const raw = await registry.openNode(inMemory(new Uint8Array(1000 * kib)));
    for (const node of [one, larger]) await bitmapsOf(node).add('a');
    const refused = { code: 'ERR_INVALID_OPTION' };
    await expect(bitmapsOf(one).merge('a', 'b')).rejects.toMatchObject(refused);
    await expect(bitmapsOf(one).merge('b', 'a')).rejects.toMatchObject(refused);
    await expect(bitmapsOf(one).merge('a', 'a', raw)).rejects.toMatchObject(refused);
    await expect(bitmapsOf(one).merge('a', 'a', larger)).rejects.toThrow('1025024 bytes');
    for (const node of [one, larger, raw]) await node.close();
  });
});

describe('bitmaps are refused', () => {
  const open = (image: Uint8Array, readOnly = false) =>
    registry.openNode({ driver: 'qcow2', readOnly, file: inMemory(image) });
  const builder = () => new ImageBuilder({ size: 1000 * kib, clusterBits: 12 });

  it('with names and granularities that the format or other programs do not take', async () => {
    const node = await open(builder().build());
    const store = bitmapsOf(node);
    await store.add('taken');
    const refused = { code: 'ERR_INVALID_OPTION' };
    for (const name of ['', 'taken', 'n'.repeat(1024), 'ö'.repeat(512)])
      await expect(store.add(name)).rejects.toMatchObject(refused);
    await store.add('n'.repeat(1023));
    for (const granularity of [0, 256, 768, 2 ** 32, 1.5, Number.NaN, -512])
      await expect(store.add('a', { granularity })).rejects.toMatchObject(refused);
    for (const work of [store.remove, store.clear, store.enable, store.disable])
      await expect(work.call(store, 'none')).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining("'none'"),
      });
    await expect(store.nextDirty('taken', -1)).rejects.toThrow(RangeError);
    await node.close();
  });

  it('in version 2, and when they would be larger than others take', async () => {
    const old = await open(new ImageBuilder({ size: 1000 * kib, version: 2 }).build());
    await expect(bitmapsOf(old).add('a')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
    await old.close();
    const huge = await open(new ImageBuilder({ size: 2 ** 42, clusterBits: 16 }).build());
    await expect(bitmapsOf(huge).add('a', { granularity: 512 })).rejects.toThrow('larger granularity');
    await bitmapsOf(huge).add('a', { granularity: 1024 });
    await bitmapsOf(huge).add('b');
    await expect(huge.truncate(2 ** 43)).rejects.toThrow('larger granularity');
    await huge.close();
  });

  it('for an empty disk: QEMU says yes, loses the bitmap, and opens no image that has one', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 4096 });
    const refused = { code: 'ERR_NOT_SUPPORTED', message: expect.stringContaining('cannot be empty') };
    await lab.open(async (node) => {
      await bitmapsOf(node).add('a');
      await expect(node.truncate(0, { shrink: true })).rejects.toMatchObject(refused);
      await bitmapsOf(node).remove('a');
      await node.truncate(0, { shrink: true });
      await expect(bitmapsOf(node).add('a')).rejects.toMatchObject(refused);
    });
  });

  it('in an image that is open for reading', async () => {
    const node = await open(builder().bitmap('a').build(), true);
    const store = bitmapsOf(node);
    expect(await store.list()).toHaveLength(1);
    for (const work of [store.add, store.remove, store.clear, store.enable, store.disable])
      await expect(work.call(store, 'a')).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
    await expect(store.merge('a', 'a')).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
    await node.close();
  });

  it('with snapshots that would change what they tell of', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await snapshotsOf(node).create('s');
      await bitmapsOf(node).add('a');
      await expect(snapshotsOf(node).apply('s')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
      await node.write(0, pattern(10));
    });
    await lab.open(async (node) => {
      await expect(snapshotsOf(node).apply('s')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
      await node.write(50 * kib, pattern(10));
    });
    const a = [
      [0, 4 * kib],
      [48 * kib, 52 * kib],
    ];
    expect(await told(lab.image)).toEqual({ a });
    await lab.open(async (node) => {
      await bitmapsOf(node).remove('a');
      await snapshotsOf(node).apply('s');
    });
    expect(await told(lab.image)).toEqual({});
    expect(await lab.check()).toEqual(sound);
  });

  it('when they have data of another program, and are kept as they are', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await bitmapsOf(node).add('12345678', { recording: true });
    });
    const { bitmaps, header } = await parsed(lab.image);
    const extension = header.extensions.find(({ name }) => name === 'bitmaps');
    const at = Number(Buffer.from(extension?.data as Uint8Array).readBigUInt64BE(16));
    for (const compatible of [false, true]) {
      // The name becomes extra data of four bytes and a name of four.
      let image = patched(patched(lab.image, at + 18, 4, 2), at + 20, 4, 4);
      if (compatible) image = patched(image, at + 12, 6, 4);
      const node = await open(image);
      const work = bitmapsOf(node).clear('5678');
      if (compatible) await work;
      else await expect(work).rejects.toThrow('another program');
      await node.write(0, pattern(10));
      await bitmapsOf(node).add('other');
      const [told] = await bitmapsOf(node).list();
      expect(told).toMatchObject({ name: '5678', dirtyBytes: compatible ? 65536 / 16 : 0 });
      await node.close();
    }
    expect(bitmaps[0]?.name).toBe('12345678');
  });
});

describe('damaged bitmaps', () => {
  const clusterSize = 4096;
  const size = 64 << 20;
  const made = () => new ImageBuilder({ size, clusterBits: 12 }).bitmap('a', 9).bitmap('b', 16);
  const open = (image: Uint8Array, readOnly: boolean) =>
    registry.openNode({ driver: 'qcow2', readOnly, file: inMemory(image) });

  it.each([
    ['off a cluster', 4096n + 512n],
    ['with reserved bits', 2n ** 60n],
    ['with unknown flags', 4n],
    ['with a place and all ones', 4097n],
    ['past the end of the file', 2n ** 40n],
  ])('whose table leads %s fail when they are looked at, and can be removed', async (_what, entry) => {
    const builder = made();
    const image = builder.build();
    const { bitmaps } = await parsed(image);
    const damaged = patched(image, bitmaps[0]?.tableOffset as number, entry, 8);
    const reader = await open(damaged, true);
    await reader.read(0, new Uint8Array(512));
    await expect(bitmapsOf(reader).list()).rejects.toMatchObject({ kind: 'image' });
    await reader.close();
    const node = await open(damaged.slice(), false);
    await expect(Promise.resolve(node.write(0, pattern(10)))).rejects.toMatchObject({ kind: 'image' });
    await bitmapsOf(node).remove('a');
    await node.write(0, pattern(10));
    await node.close();
  });

  it('whose table leads to one cluster twice are refused, so that memory stays bounded', async () => {
    const image = made().build();
    const { bitmaps } = await parsed(image);
    const table = bitmaps[0]?.tableOffset as number;
    const damaged = patched(patched(image, table, clusterSize, 8), table + 8, clusterSize, 8);
    const node = await open(damaged, true);
    await expect(bitmapsOf(node).list()).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
    await node.close();
  });

  it('whose table is too short for the disk are refused', async () => {
    const builder = made();
    const image = patched(builder.build(), builder.bitmapDirectoryOffset + 8, 1, 4);
    const node = await open(image, true);
    await expect(bitmapsOf(node).list()).rejects.toThrow('too few');
    await node.close();
  });

  it('whose directory lies over a table keep the image from being written', async () => {
    const builder = made();
    const image = builder.build();
    const directory = image.slice(builder.bitmapDirectoryOffset, builder.bitmapDirectoryOffset + clusterSize);
    const moved = image.slice();
    const { header } = await parsed(image);
    moved.set(directory, header.l1TableOffset);
    const extension = header.extensions.find(({ name }) => name === 'bitmaps');
    const damaged = patched(moved, (extension?.offset as number) + 16, header.l1TableOffset, 8);
    await expect(open(damaged, false)).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
  });

  it('that another program did not keep up to date are none, and make way for new ones', async () => {
    const file = await registry.openNode(inMemory(patched(made().build(), 88, 0, 8)));
    const node = await registry.openNode({ driver: 'qcow2', readOnly: false, file });
    expect(await bitmapsOf(node).list()).toEqual([]);
    await bitmapsOf(node).add('new');
    await node.write(0, pattern(10));
    await node.close();
    const header = await readHeader(file);
    const bitmaps = await readBitmaps(header, file);
    await file.close();
    expect(header.autoclearFeatures).toBe(1n << BigInt(autoclear.bitmaps));
    expect(bitmaps.map(({ name }) => name)).toEqual(['new']);
  });
});

describe('a power cut', () => {
  /** Whatever a whole bitmap does not mark is as it was when the bitmap was empty. */
  async function honest(
    lab: Lab,
    files: Files,
    before: Uint8Array,
    granularity: number,
    where: string,
  ): Promise<string> {
    const { corruptions, findings } = await lab.check(files);
    if (corruptions > 0) throw new Error(`${where}: ${findings.join('; ')}`);
    const disk = await lab.read(undefined, files);
    const image = files.get('disk') as Uint8Array;
    const { a } = await told(image);
    if (a === 'inconsistent' || a === undefined) return String(a);
    if (!(await parsed(image)).bitmaps.find(({ name }) => name === 'a')?.auto) return 'stopped';
    const marked = a as [number, number][];
    for (let at = 0; at < disk.length; at += granularity) {
      const [now, then] = [disk, before].map((bytes) => bytes.subarray(at, at + granularity)) as [
        Uint8Array,
        Uint8Array,
      ];
      if (Buffer.compare(now, then) !== 0 && !marked.some(([start, end]) => at >= start && at < end))
        throw new Error(`${where}: ${at} was changed, and bitmap 'a' does not say so`);
    }
    return 'whole';
  }

  const works: [string, (node: BlockNode) => Promise<unknown>][] = [
    [
      'writes',
      async (node) => {
        await node.write(0, pattern(3000, 7));
        await node.flush();
        await node.write(20_000, pattern(9000, 8));
      },
    ],
    [
      'a write after the bitmap was stopped',
      async (node) => {
        await bitmapsOf(node).disable('a');
        await bitmapsOf(node).add('later');
        await node.write(5000, pattern(3000, 7));
        await node.flush();
      },
    ],
    [
      'other sizes',
      async (node) => {
        await node.write(9000, pattern(300, 7));
        await node.truncate(400 * kib);
        await node.write(390 * kib, pattern(300, 7));
      },
    ],
    [
      'removal',
      async (node) => {
        await bitmapsOf(node).remove('a');
        await node.write(0, pattern(300, 7));
      },
    ],
  ];

  it.each(works)(
    'at any moment of %s leaves bitmaps that are whole, or say that they are not',
    async (_name, work) => {
      const lab = await Lab.make({ size: 100 * kib, clusterSize: 512 });
      await lab.open(async (node) => {
        await node.write(0, pattern(100 * kib, 1));
        await bitmapsOf(node).add('a', { granularity: 512 });
      });
      await lab.open(async (node) => {
        await node.flush();
        await bitmapsOf(node).clear('a');
      });
      const before = new Uint8Array(400 * kib);
      before.set(await lab.read());
      lab.machine.settle();
      const began = lab.machine.tick();
      await lab.open(work);
      const ended = lab.machine.tick() + 1;
      const cuts = new PowerCuts(lab.machine);
      const random = new Random(ended);
      const seen = new Set<string>();
      for (let moment = began; moment <= ended; moment++) {
        for (let draw = 0; draw < 4; draw++)
          seen.add(
            await honest(lab, cuts.at(moment, random), before, 512, `cut at ${moment} of ${began}..${ended}`),
          );
      }
      expect(seen).toContain('whole');
      expect(seen).toContain('inconsistent');
    },
  );
});
