import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { digest, Lab, type Made, snapshotsOf } from './support/transitions.ts';

const kib = 1024;
const layouts: [string, Made][] = [
  ['clusters of 512 bytes', { size: 100 * kib, clusterSize: 512 }],
  ['clusters of 64 KiB', { size: 1000 * kib, clusterSize: 65536 }],
  ['version 2', { size: 100 * kib, clusterSize: 1024, compat: 'v2' }],
  ['extended L2', { size: 300 * kib, clusterSize: 16384, extendedL2: true }],
  ['4-bit refcounts', { size: 100 * kib, clusterSize: 512, refcountBits: 4 }],
  ['64-bit refcounts', { size: 100 * kib, clusterSize: 512, refcountBits: 64 }],
  ['a longer backing file', { size: 100 * kib, clusterSize: 4096, backing: pattern(150 * kib, 9) }],
];

const sound = { corruptions: 0, leaks: 0, findings: [] };

/** Data of every kind: whole clusters, parts, compressed ones, zeroes. */
async function fill(lab: Lab, seed: number): Promise<void> {
  await lab.open(async (node) => {
    const { size } = node;
    await node.write(0, pattern(size / 4, seed));
    await node.write(Math.floor(size / 2) + 100, pattern(1000, seed + 1));
    await node.writeZeroes(size / 8, size / 16);
    const { clusterSize } = node.describeOptions() as { clusterSize: number };
    const at = Math.ceil((size * 0.8) / clusterSize) * clusterSize;
    for (let i = 0; i < 3 && at + (i + 1) * clusterSize <= size; i++)
      await node.write(at + i * clusterSize, new Uint8Array(clusterSize).fill(seed + i), {
        compressed: true,
      });
  });
}

describe('snapshots', () => {
  it.each(layouts)('keep, give back and forget what was: %s', async (_name, made) => {
    const lab = await Lab.make(made);
    const disks: string[] = [];
    for (let i = 0; i < 3; i++) {
      await fill(lab, 10 * i + 1);
      disks.push((await lab.state()).disk);
      await lab.open((node) => snapshotsOf(node).create(`s${i}`));
      expect(await lab.check()).toEqual(sound);
    }
    await fill(lab, 99);
    const expected = disks.map((disk, i) => ({ id: String(i + 1), name: `s${i}`, disk }));
    expect((await lab.state()).snapshots).toEqual(expected);
    for (const i of [1, 0, 2]) {
      await lab.open((node) => snapshotsOf(node).apply(`s${i}`));
      expect(await lab.check()).toEqual(sound);
      expect(await lab.state()).toEqual({ disk: disks[i], snapshots: expected });
    }
    for (const id of ['2', '1', '3']) {
      await lab.open((node) => snapshotsOf(node).delete(id));
      expect(await lab.check()).toEqual(sound);
      expected.splice(
        expected.findIndex((one) => one.id === id),
        1,
      );
      expect(await lab.state()).toEqual({ disk: disks[2], snapshots: expected });
    }
  });

  it('are told, listed, and numbered after the largest id', async () => {
    const lab = await Lab.make({ size: 10 * kib });
    await lab.open(async (node) => {
      const store = snapshotsOf(node);
      const date = new Date(1_700_000_000_123);
      const told = await store.create('first', { date });
      expect(told).toEqual({
        ...{ id: '1', name: 'first', diskSize: 10 * kib, dateSec: 1_700_000_000, dateNsec: 123_000_000 },
        ...{ vmStateSize: 0, vmClockNsec: 0, icount: 0 },
      });
      await store.create('7');
      await store.create('first');
      await store.delete('1');
      expect((await store.list()).map(({ id, name }) => [id, name])).toEqual([
        ['2', '7'],
        ['3', 'first'],
      ]);
      expect((await store.create('again')).id).toBe('4');
    });
  });

  it('are taken while the disk is written, and then have all of a write or nothing', async () => {
    const lab = await Lab.make({ size: 256 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      const work: unknown[] = [];
      for (let i = 0; i < 64; i++) {
        work.push(node.write(i * 4096, new Uint8Array(4096).fill(i + 1)));
        if (i % 16 === 8) work.push(snapshotsOf(node).create(`at ${i}`));
      }
      await Promise.all(work);
    });
    expect(await lab.check()).toEqual(sound);
    for (const id of ['1', '2', '3', '4']) {
      const disk = await lab.read(id);
      for (let i = 0; i < 64; i++) {
        const cluster = disk.subarray(i * 4096, (i + 1) * 4096);
        expect(cluster.every((byte) => byte === cluster[0])).toBe(true);
        expect([0, i + 1]).toContain(cluster[0]);
      }
    }
  });

  it('are written on after: what is shared is copied, and they stay as they are', async () => {
    const lab = await Lab.make({ size: 64 * kib, clusterSize: 512 });
    await lab.open(async (node) => {
      await node.write(0, pattern(64 * kib, 1));
      await snapshotsOf(node).create('a');
      await node.write(1000, pattern(5000, 2));
      await snapshotsOf(node).create('b');
      await node.write(3000, pattern(5000, 3));
      await snapshotsOf(node).apply('a');
      await node.write(2000, pattern(100, 4));
    });
    const first = pattern(64 * kib, 1);
    const second = first.slice();
    second.set(pattern(5000, 2), 1000);
    const now = first.slice();
    now.set(pattern(100, 4), 2000);
    expect(await lab.state()).toEqual({
      disk: digest(now),
      snapshots: [
        { id: '1', name: 'a', disk: digest(first) },
        { id: '2', name: 'b', disk: digest(second) },
      ],
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('have sizes of their own, and give them back', async () => {
    const lab = await Lab.make({ size: 100_001, clusterSize: 512 });
    await lab.open(async (node) => {
      await node.write(0, pattern(100_001, 1));
      await snapshotsOf(node).create('small');
      await node.truncate(300_000);
      await node.write(200_000, pattern(100_000, 2));
      await snapshotsOf(node).create('large');
      await node.truncate(50_000, { shrink: true });
      await snapshotsOf(node).apply('large');
      expect(node.size).toBe(300_000);
      await snapshotsOf(node).apply('small');
      expect(node.size).toBe(100_001);
    });
    expect(await lab.check()).toEqual(sound);
    expect((await lab.state()).disk).toBe(digest(pattern(100_001, 1)));
  });

  it('come and go without the file growing', async () => {
    const lab = await Lab.make({ size: 100 * kib, clusterSize: 512 });
    await fill(lab, 1);
    const sizes = new Set<number>();
    for (let i = 0; i < 12; i++) {
      await lab.open((node) => snapshotsOf(node).create('again'));
      await lab.open((node) => snapshotsOf(node).delete('again'));
      if (i > 3) sizes.add(lab.image.length);
    }
    expect(sizes.size).toBe(1);
  });

  it('give their storage back to the file below', async () => {
    const lab = await Lab.make({ size: 256 * kib, clusterSize: 4096 });
    await lab.open(async (node) => {
      await node.write(0, pattern(256 * kib, 1));
      await snapshotsOf(node).create('a');
      await node.write(0, pattern(256 * kib, 2));
    });
    const discarded = async (options: Record<string, unknown>) => {
      await lab.open((node) => snapshotsOf(node).create('b'));
      return await lab.open(async (node) => {
        const { file } = node.children;
        const before = file?.stats.discardBytes ?? 0;
        await snapshotsOf(node).delete('a');
        return (file?.stats.discardBytes ?? 0) - before;
      }, options);
    };
    expect(await discarded({})).toBeGreaterThanOrEqual(256 * kib);
  });
});

describe('snapshots are refused', () => {
  it('where the refcounts cannot hold one more, before anything changes', async () => {
    const lab = await Lab.make({ size: 64 * kib, clusterSize: 4096, refcountBits: 2 });
    await lab.open(async (node) => {
      await node.write(0, pattern(64 * kib, 1));
      await snapshotsOf(node).create('a');
      await snapshotsOf(node).create('b');
      await expect(snapshotsOf(node).create('c')).rejects.toThrow(/2-bit refcounts count/);
      expect(await snapshotsOf(node).list()).toHaveLength(2);
      // Both lead to the same: what the disk gives up makes room for what it takes.
      await snapshotsOf(node).apply('a');
      await node.write(0, pattern(4096, 3));
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('with 1-bit refcounts, but for an empty disk', async () => {
    const lab = await Lab.make({ size: 64 * kib, clusterSize: 4096, refcountBits: 1 });
    await lab.open(async (node) => {
      await snapshotsOf(node).create('empty');
      await node.write(0, pattern(64 * kib, 1));
      await expect(snapshotsOf(node).create('b')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
    });
    expect(await lab.check()).toEqual(sound);
  });

  it.each([true, false])('with an external data file, raw: %s', async (dataFileRaw) => {
    const lab = await Lab.make({ size: 64 * kib, dataFileRaw });
    await lab.open(async (node) => {
      await expect(snapshotsOf(node).create('a')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
      expect(await snapshotsOf(node).list()).toEqual([]);
    });
  });

  it('by names that nobody could read back', async () => {
    const lab = await Lab.make({ size: 64 * kib });
    await lab.open(async (node) => {
      const store = snapshotsOf(node);
      await expect(store.create('é'.repeat(512))).rejects.toThrow(/1024 bytes; the most is 1023/);
      await expect(store.create('a\0b')).rejects.toThrow(/zero byte/);
      await store.create('é'.repeat(511));
      await store.create('');
      await expect(store.create('a', { date: new Date(-1) })).rejects.toThrow(/1970/);
      await expect(store.apply('nobody')).rejects.toThrow(/no snapshot has the id or the name 'nobody'/);
      await expect(store.delete('nobody')).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
      await expect(store.create('a', { signal: AbortSignal.abort() })).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(await store.list()).toHaveLength(2);
    });
    expect(await lab.check()).toEqual(sound);
  });
});
