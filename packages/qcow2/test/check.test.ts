import { describe, expect, test } from 'vitest';
import { checkImage } from '../src/check/check-image.ts';
import { repairDirty } from '../src/check/repair-dirty.ts';
import { qcow2 } from '../src/index.ts';
import { copied, Damage } from './support/damage.ts';
import { deflate, field, patched, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import type { HeaderOptions } from './support/image-header.ts';
import { inMemory, registry } from './support/open.ts';
import { expectKept, readable } from './support/readable.ts';

/** A sound image with data, zeroes, compressed clusters, snapshots and a bitmap. */
function sound(options: HeaderOptions = {}): Uint8Array {
  const builder = new ImageBuilder({ size: 4 << 20, ...options });
  builder.data(0, pattern(4 * builder.clusterSize));
  builder.snapshot('1', 'one');
  builder.data(0, pattern(builder.clusterSize, 2));
  builder.zeroPlaced(8 * builder.clusterSize);
  builder.zero(9 * builder.clusterSize);
  builder.compressed(10 * builder.clusterSize, deflate(new Uint8Array(builder.clusterSize)));
  return builder.build();
}

async function check(image: Uint8Array, repair?: 'leaks' | 'all') {
  const file = await registry.openNode(inMemory(image.slice()));
  try {
    const result = await checkImage(file, { repair });
    const bytes = new Uint8Array(file.size);
    await file.read(0, bytes);
    return { result, bytes };
  } finally {
    await file.close();
  }
}

const clean = { corruptions: 0, leaks: 0, checkErrors: 0 };

describe('a sound image', () => {
  test.each([9, 12, 16, 21])('of clusters of 2^%d bytes', async (clusterBits) => {
    expect((await check(sound({ clusterBits }))).result).toMatchObject({ ...clean, findings: [] });
  });

  test.each([0, 1, 2, 3, 4, 5, 6])('of refcounts of order %d', async (refcountOrder) => {
    const builder = new ImageBuilder({ size: 4 << 20, refcountOrder });
    builder.data(0, pattern(300_000));
    expect((await check(builder.build())).result).toMatchObject({
      ...clean,
      allocatedClusters: 5,
      findings: [],
    });
  });

  test('gives its numbers', async () => {
    const { result } = await check(sound());
    expect(result).toMatchObject({
      totalClusters: 64,
      allocatedClusters: 6,
      compressedClusters: 1,
      fragmentedClusters: 3,
      corruptionsFixed: 0,
      leaksFixed: 0,
    });
  });

  test('is not written to by a repair', async () => {
    const image = sound();
    expect(Buffer.compare((await check(image, 'all')).bytes, image)).toBe(0);
  });

  test('is checked through the driver, without the files that it names', async () => {
    const builder = new ImageBuilder({ dataFile: 'absent', backingFile: 'absent too' });
    builder.external(0, 3);
    const file = await registry.openNode(inMemory(builder.build()));
    expect(await qcow2().check?.(file)).toMatchObject({ ...clean, allocatedClusters: 3 });
    await file.close();
  });
});

describe('repair', () => {
  test('raises what is too low, lowers what leaks, and says so', async () => {
    const image = new Damage(sound()).refcount(3, 0).refcount(4, 3).bytes;
    const { result: found } = await check(image);
    expect(found.corruptions).toBeGreaterThan(0);
    expect(found.leaks).toBe(1);
    const { result, bytes } = await check(image, 'all');
    expect(result).toMatchObject({ ...clean, leaksFixed: 1 });
    expect(result.corruptionsFixed).toBeGreaterThan(0);
    expect(result.findings.join('\n')).toContain('the refcount of cluster 3 was 0 and is ');
    expect((await check(bytes)).result).toMatchObject({ ...clean, findings: [] });
  });

  test('of leaks leaves corruptions', async () => {
    const image = new Damage(sound()).refcount(3, 0).refcount(4, 3).bytes;
    const { result } = await check(image, 'leaks');
    expect(result.leaks).toBe(0);
    expect(result.leaksFixed).toBe(1);
    expect(result.corruptions).toBeGreaterThan(0);
  });

  test('keeps what a lost table may refer to', async () => {
    const damage = new Damage(sound());
    damage.put(damage.l1, damage.get(damage.l1) + 512n).put(damage.refcountTable, 0);
    const before = damage.bytes.slice();
    const { result, bytes } = await check(damage.bytes, 'all');
    expect(result.corruptions).toBeGreaterThan(0);
    const mended = new Damage(bytes);
    mended.put(mended.l1, new Damage(sound()).get(mended.l1));
    // The clusters of the lost table were not given to the new refcount structures.
    for (let at = damage.clusterSize; at < before.length; at += damage.clusterSize)
      if (at !== mended.l1) expect(bytes.subarray(at, at + 8)).toEqual(before.subarray(at, at + 8));
  });

  test('removes the marks only when nothing is left', async () => {
    const marked = patched(sound(), field.incompatible, 3, 8);
    expect(new Damage((await check(marked, 'all')).bytes).get(field.incompatible)).toBe(0n);
    const broken = new Damage(marked);
    broken.or(broken.l2(), 2n);
    expect(new Damage((await check(broken.bytes, 'all')).bytes).get(field.incompatible)).toBe(3n);
  });

  test('needs a writable file', async () => {
    const file = await registry.openNode({
      ...inMemory(new Damage(sound()).refcount(4, 3).bytes),
      readOnly: true,
    });
    await expect(checkImage(file, { repair: 'all' })).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
    await file.close();
  });

  test('of an image marked dirty', async () => {
    const image = new Damage(patched(sound(), field.incompatible, 1, 8)).refcount(3, 0).bytes;
    const file = await registry.openNode(inMemory(image));
    expect(await repairDirty(file)).toMatchObject(clean);
    await file.close();
    const hopeless = new Damage(image);
    hopeless.or(hopeless.l2(), 2n);
    const other = await registry.openNode(inMemory(hopeless.bytes));
    await expect(repairDirty(other)).rejects.toMatchObject({ code: 'ERR_CORRUPT', message: /reserved bits/ });
    await other.close();
  });
});

describe('what reading refuses is told, before and after a repair', () => {
  /** A cluster of the disk that had nothing. */
  const free = 40;
  const overlaps: [string, (damage: Damage) => void, RegExp][] = [
    [
      'data in an L2 table',
      (d) => d.put(d.l2() + free * 8, copied | BigInt(d.l2())),
      /an L2 table, and 1 entry places data/,
    ],
    [
      'data in the L1 table',
      (d) => d.put(d.l2() + free * 8, copied | BigInt(d.l1)),
      /the L1 table, and 1 entry places data/,
    ],
    [
      'data in the refcount table',
      (d) =>
        d.put(d.l2() + free * 8, BigInt(d.refcountTable)).put(d.l2() + free * 8 + 8, BigInt(d.refcountTable)),
      /the refcount table, and 2 entries place data/,
    ],
    [
      'data in the snapshot table',
      (d) => d.put(d.l2() + free * 8, BigInt(d.snapshots)),
      /the snapshot table, and 1 entry places data/,
    ],
    [
      'compressed data in the L1 table',
      (d) => d.put(d.l2() + free * 8, (1n << 62n) | BigInt(d.l1 + 8)),
      /the L1 table, and 1 entry places data/,
    ],
    [
      'an L2 table in the L1 table',
      (d) => d.put(d.l1, copied | BigInt(d.l1)),
      /the L1 table, and 1 entry places an L2 table/,
    ],
  ];

  test.each(overlaps)('%s', async (_name, change, told) => {
    const damage = new Damage(sound());
    change(damage);
    const found = await check(damage.bytes);
    expect(found.result.findings.join('\n')).toMatch(told);
    const { result, bytes } = await check(damage.bytes, 'all');
    expect(result.corruptions).toBeGreaterThan(0);
    expect((await check(bytes)).result.findings.join('\n')).toMatch(told);
    expect(await readable(bytes)).toContain(undefined);
  });

  test('an L2 table that two entries lead to', async () => {
    const builder = new ImageBuilder({ size: 2 ** 30 });
    builder.data(0, pattern(65536));
    builder.l1Entry(1, BigInt(builder.l2Offset(0)));
    const { result, bytes } = await check(builder.build(), 'all');
    expect(result.corruptions).toBe(1);
    expect((await check(bytes)).result.findings).toEqual([
      expect.stringMatching(/the L2 table of another entry/),
    ]);
  });

  test('data in a refcount block: the block moves away', async () => {
    const damage = new Damage(sound());
    damage.put(damage.l2() + free * 8, copied | BigInt(damage.block));
    const { result, bytes } = await check(damage.bytes, 'all');
    expect(result).toMatchObject(clean);
    expect(await readable(bytes)).not.toContain(undefined);
  });

  test('but not compressed data that claims more than it has', async () => {
    const builder = new ImageBuilder({ size: 4 << 20 });
    const data = builder.data(0, pattern(builder.clusterSize));
    const damage = new Damage(builder.build());
    expect(damage.l2()).toBe(data + damage.clusterSize);
    damage.put(damage.l2() + free * 8, (1n << 62n) | (0x9fn << 54n) | BigInt(data));
    expect((await check(damage.bytes)).result.findings.join('\n')).not.toMatch(/places data/);
  });

  test('tables in the place of each other', async () => {
    const damage = new Damage(sound());
    damage.put(field.snapshotsOffset, damage.l1);
    expect((await check(damage.bytes, 'all')).result.findings.join('\n')).toMatch(
      /and another table is there/,
    );
    expect(await readable(damage.bytes)).toEqual([]);
  });
});

describe('a check', () => {
  test('tells its progress', async () => {
    const file = await registry.openNode(inMemory(sound()));
    const told: { done: number; total: number }[] = [];
    await checkImage(file, { onProgress: (progress) => told.push(progress) });
    await file.close();
    expect(told.length).toBeGreaterThan(2);
    expect(told.every(({ done, total }, i) => done <= total && done >= (told[i - 1]?.done ?? 0))).toBe(true);
    expect(told.at(-1)).toMatchObject({ done: told.at(-1)?.total });
  });

  test('can be given up', async () => {
    const file = await registry.openNode(inMemory(sound()));
    const reason = new Error('enough');
    await expect(checkImage(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const onProgress = () => controller.abort(reason);
    await expect(checkImage(file, { signal: controller.signal, onProgress })).rejects.toBe(reason);
    await file.close();
  });

  test.each([
    ['no refcount table', field.refcountTableClusters, 0, 4],
    ['a refcount table off a cluster', field.refcountTableOffset, 513, 8],
    ['a refcount table that is too large', field.refcountTableClusters, 0x10000, 4],
    ['an L1 table that is too small', field.l1Size, 0, 4],
    ['an L1 table off a cluster', field.l1Offset, 1, 8],
    ['too many snapshots', field.snapshotCount, 0x7fffffff, 4],
  ] as const)('of %s is an error', async (_name, at, value, size) => {
    await expect(check(patched(sound(), at, value, size))).rejects.toMatchObject({
      code: 'ERR_INVALID_IMAGE',
    });
  });
});

describe('hostile images', () => {
  test('an L2 table of which everything leads back to it', async () => {
    const damage = new Damage(sound({ clusterBits: 12 }));
    for (let i = 0; i < 512; i++) damage.put(damage.l2() + i * 8, copied | BigInt(damage.l2()));
    expect((await check(damage.bytes)).result.findings.join()).toContain('513 references');
    expect((await check(damage.bytes, 'all')).result.corruptions).toBeGreaterThan(0);
  });

  test('very many references to one table are counted, not walked', async () => {
    const size = 2 ** 42;
    const builder = new ImageBuilder({ size, clusterBits: 16 });
    builder.data(0, pattern(65536));
    const l2 = builder.l2Offset(0);
    for (let i = 1; i < builder.l1Size; i++) builder.l1Entry(i, BigInt(l2));
    const { result } = await check(builder.build());
    // Refcount and copied flags; and that of all entries only one may lead there.
    expect(result.corruptions).toBe(2 * builder.l1Size);
    expect(result.allocatedClusters).toBe(builder.l1Size);
  });

  test('65535 snapshots of one large L1 table', async () => {
    const clusterBits = 9;
    const l1 = 1 << 20;
    const snapshots = 65535;
    const entry = new Uint8Array(56);
    const view = new DataView(entry.buffer);
    view.setBigUint64(0, BigInt(l1));
    view.setUint32(8, 1 << 18);
    view.setUint32(36, 16);
    const table = new Uint8Array(snapshots * 56);
    for (let i = 0; i < snapshots; i++) table.set(entry, i * 56);
    const builder = new ImageBuilder({ clusterBits, size: 1 << 14 });
    const place = 8 << 20;
    builder.put(place, table).put(l1, new Uint8Array(1 << 21));
    const image = patched(builder.build(), field.snapshotsOffset, place, 8);
    const { result } = await check(patched(image, field.snapshotCount, snapshots, 4));
    expect(result.corruptions).toBeGreaterThan(4096);
    expect(result.findings.length).toBe(1000);
  });

  test('a refcount table full of entries for one block', async () => {
    const damage = new Damage(sound());
    for (let i = 0; i < 8192; i++)
      damage.put(damage.refcountTable + i * 8, damage.block === 0 ? 0 : damage.block);
    const { result } = await check(damage.bytes);
    expect(result.corruptions).toBe(8192);
    expect((await check(damage.bytes, 'all')).result).toMatchObject(clean);
  });

  test('any bytes changed give a result or an error, and a repair keeps what can be read', async () => {
    const image = sound({ clusterBits: 9 });
    let state = 7;
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return state % below;
    };
    for (let i = 0; i < 200; i++) {
      const bytes = image.slice();
      for (let n = 0; n < 3; n++) bytes[random(bytes.length)] = random(256);
      try {
        const found = await check(bytes);
        const repaired = await check(bytes, 'all');
        const { corruptions } = repaired.result;
        expect(corruptions).toBeLessThanOrEqual(found.result.corruptions);
        expectKept(await readable(bytes), await readable(repaired.bytes));
        const again = await check(repaired.bytes, 'all');
        expect(again.result).toMatchObject({ corruptions, corruptionsFixed: 0, leaksFixed: 0 });
      } catch (error) {
        expect(error).toMatchObject({ name: 'BlockError' });
      }
    }
  });
});
