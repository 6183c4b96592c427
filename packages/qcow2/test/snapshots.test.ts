import { describe, expect, it } from 'vitest';
import { readHeader, readSnapshots } from '../src/index.ts';
import { field, patched, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, openDisk, openNode, readAll, registry } from './support/open.ts';

const cluster = 65536;

function make() {
  const builder = new ImageBuilder({ size: 4 * cluster });
  builder.data(0, pattern(cluster, 1));
  builder.snapshot('1', 'first');
  builder.data(0, pattern(cluster, 2));
  builder.snapshot('7', '1', { diskSize: 2 * cluster + 5 });
  builder.snapshot('8', 'old', { extraBytes: 0 });
  builder.data(0, pattern(cluster, 3));
  return builder;
}

const first = async (image: Uint8Array, snapshot?: string) =>
  (await readAll(image, snapshot === undefined ? {} : { snapshot })).subarray(0, cluster);

describe('internal snapshots', () => {
  const builder = make();
  const image = builder.build();

  it("are opened by id, by name, and by id where it is another's name", async () => {
    expect(Buffer.compare(await first(image), pattern(cluster, 3))).toBe(0);
    expect(Buffer.compare(await first(image, 'first'), pattern(cluster, 1))).toBe(0);
    expect(Buffer.compare(await first(image, '1'), pattern(cluster, 1))).toBe(0);
    expect(Buffer.compare(await first(image, '7'), pattern(cluster, 2))).toBe(0);
  });

  it('have the size the disk had', async () => {
    const disk = await openDisk(image, { snapshot: '7' });
    expect(disk.size).toBe(2 * cluster + 5);
    await disk.close();
    const older = await openDisk(image, { snapshot: 'old' });
    expect(older.size).toBe(4 * cluster);
    expect(older.describe()).toMatchObject({ options: { snapshot: '8' } });
    await older.close();
  });

  it('are listed', async () => {
    const { snapshots } = await registry.inspect({ driver: 'qcow2', file: inMemory(image) });
    expect(snapshots).toEqual([
      {
        id: '1',
        name: 'first',
        vmStateSize: 0,
        dateSec: 1_700_000_000,
        dateNsec: 0,
        vmClockNsec: 0,
        icount: undefined,
        diskSize: 4 * cluster,
      },
      {
        id: '7',
        name: '1',
        vmStateSize: 0,
        dateSec: 1_700_000_001,
        dateNsec: 1,
        vmClockNsec: 0,
        icount: undefined,
        diskSize: 2 * cluster + 5,
      },
      {
        id: '8',
        name: 'old',
        vmStateSize: 0,
        dateSec: 1_700_000_002,
        dateNsec: 2,
        vmClockNsec: 0,
        icount: undefined,
        diskSize: 4 * cluster,
      },
    ]);
  });

  it('that are not there are an error that lists those that are', async () => {
    await expect(openNode(image, { snapshot: 'none' })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining("1 'first', 7 '1', 8 'old'"),
    });
  });

  const table = builder.snapshotsOffset;
  it.each([
    ['an L1 table past the end', table, 1n << 40n, 8, 'ERR_IMAGE_TRUNCATED'],
    ['an L1 table above 2^53', table, -1n, 8, 'EFBIG'],
    ['an L1 table off a cluster', table, 512n, 8, 'ERR_INVALID_IMAGE'],
    ['an L1 table at the header', table, 0n, 8, 'ERR_INVALID_IMAGE'],
    [
      'an L1 table over the refcount table',
      table,
      BigInt(builder.refcountTableOffset),
      8,
      'ERR_INVALID_IMAGE',
    ],
    ['an L1 table without entries', table + 8, 0, 4, 'ERR_INVALID_IMAGE'],
    ['an L1 table larger than allowed', table + 8, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['an L1 table larger than the file', table + 8, 1 << 21, 4, 'ERR_IMAGE_TRUNCATED'],
    ['much extra data', table + 36, 1025, 4, 'ERR_INVALID_IMAGE'],
    ['most extra data', table + 36, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['a disk size above 2^53', table + 48, -1n, 8, 'EFBIG'],
    ['a disk size above what L1 covers', table + 48, 1n << 40n, 8, 'ERR_INVALID_IMAGE'],
  ] as const)('with %s', async (_name, at, value, size, code) => {
    const damaged = patched(image, at, value, size);
    await expect(openNode(damaged, { snapshot: '1' })).rejects.toMatchObject({ name: 'BlockError', code });
  });

  it('whose names are longer than any program makes them', async () => {
    const end = new ImageBuilder();
    end.snapshot('1', 'x');
    const made = end.build();
    const moved = new Uint8Array(made.length + 4096);
    moved.set(made);
    moved.set(made.subarray(end.snapshotsOffset, end.snapshotsOffset + 50), made.length);
    const long = patched(patched(moved, field.snapshotsOffset, made.length, 8), made.length + 14, 2000, 2);
    const file = await registry.openNode({ driver: 'memory', data: long });
    await expect(readSnapshots(await readHeader(file), file)).rejects.toThrow(
      /name of 2000; the most is 1023/,
    );
    await file.close();
  });

  it('whose names lead past the end of the file', async () => {
    const end = new ImageBuilder();
    end.snapshot('1', 'x');
    const made = end.build();
    const moved = new Uint8Array(made.length + 50);
    moved.set(made);
    moved.set(made.subarray(end.snapshotsOffset, end.snapshotsOffset + 50), made.length);
    const damaged = patched(
      patched(moved, field.snapshotsOffset, made.length, 8),
      made.length + 14,
      0xffff,
      2,
    );
    await expect(openNode(damaged, { snapshot: '1' })).rejects.toMatchObject({ code: 'ERR_IMAGE_TRUNCATED' });
    const file = await registry.openNode({ driver: 'memory', data: damaged });
    await expect(readSnapshots(await readHeader(file), file)).rejects.toMatchObject({
      code: 'ERR_IMAGE_TRUNCATED',
    });
    await file.close();
  });

  it('that are damaged do not keep the disk itself from being read', async () => {
    expect(Buffer.compare(await first(patched(image, table + 36, 0xffffffff, 4)), pattern(cluster, 3))).toBe(
      0,
    );
  });
});
