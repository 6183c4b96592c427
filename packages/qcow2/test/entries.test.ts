import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode } from './support/open.ts';

const cluster = 65536;
const copied = 1n << 63n;

/** What reading and asking for the first byte of a cluster end in: both the same way. */
async function codes(image: Uint8Array, offset = 0): Promise<string> {
  const node = await openNode(image, { backing: null });
  const attempt = async (work: () => unknown) => {
    try {
      await work();
      return 'fine';
    } catch (error) {
      expect(error).toMatchObject({ name: 'BlockError', driver: 'qcow2' });
      return (error as { code: string }).code;
    }
  };
  const into = new Uint8Array(cluster);
  const read = await attempt(() => node.read(offset, into));
  expect(await attempt(() => node.blockStatus(offset, 1))).toBe(read);
  await node.close();
  return read;
}

describe('an L2 entry', () => {
  const at = (value: (builder: ImageBuilder) => bigint, options = {}) => {
    const builder = new ImageBuilder(options);
    builder.data(cluster, pattern(cluster));
    builder.snapshot('1', 'one');
    builder.data(2 * cluster, pattern(cluster));
    const entry = value(builder);
    return builder.entry(0, entry);
  };

  it.each<[string, (builder: ImageBuilder) => bigint, string]>([
    ['misaligned', () => (1n << 20n) | 512n | copied, 'ERR_CORRUPT'],
    ['misaligned, with the zero flag', () => (1n << 20n) | 513n, 'ERR_CORRUPT'],
    ['past the end', () => copied | (1n << 40n), 'ERR_IMAGE_TRUNCATED'],
    ['at the largest offset', () => copied | 0x00ffffffffff0000n, 'ERR_IMAGE_TRUNCATED'],
    ['past the end with the zero flag: not read', () => copied | (1n << 40n) | 1n, 'fine'],
    ['at its own table', (builder) => copied | BigInt(builder.l2Offset(0)), 'ERR_CORRUPT'],
    ['at the L1 table', (builder) => copied | BigInt(builder.l1Offset), 'ERR_CORRUPT'],
    ['unallocated with the copied flag', () => copied, 'fine'],
    ['all zero', () => 0n, 'fine'],
  ])('%s', async (_name, value, expected) => {
    expect(await codes(at(value).build())).toBe(expected);
  });

  it('at the refcount table, a refcount block or the snapshot table', async () => {
    const made = at(() => 0n);
    made.build();
    // The same calls give the same places.
    for (const place of [
      made.refcountTableOffset,
      made.refcountTableOffset + cluster,
      made.snapshotsOffset,
    ]) {
      expect(await codes(at(() => copied | BigInt(place)).build())).toBe('ERR_CORRUPT');
    }
  });

  it('with the zero flag in version 2', async () => {
    expect(await codes(at(() => 1n, { version: 2 }).build())).toBe('ERR_CORRUPT');
  });

  it('with unknown bits is read as without', async () => {
    const builder = new ImageBuilder();
    const place = builder.data(0, pattern(cluster));
    builder.entry(0, copied | BigInt(place) | (0x1fn << 56n) | 0x1fen);
    expect(await codes(builder.build())).toBe('fine');
  });
});

describe('an L1 entry', () => {
  const size = 2 * 8192 * cluster;
  const make = (value: (builder: ImageBuilder) => bigint) => {
    const builder = new ImageBuilder({ size });
    builder.data(0, pattern(cluster));
    return builder.l1Entry(1, value(builder)).build();
  };

  it.each<[string, (builder: ImageBuilder) => bigint, string]>([
    ['misaligned', () => 512n + 65536n, 'ERR_CORRUPT'],
    ['past the end', () => 1n << 40n, 'ERR_IMAGE_TRUNCATED'],
    ['at the largest offset', () => 0x00ffffffffff0000n, 'ERR_IMAGE_TRUNCATED'],
    ['at the L1 table', (builder) => BigInt(builder.l1Offset), 'ERR_CORRUPT'],
    ['at the table of another entry', (builder) => BigInt(builder.l2Offset(0)), 'ERR_CORRUPT'],
    ['without an offset', () => copied, 'fine'],
  ])('%s', async (_name, value, expected) => {
    expect(await codes(make(value), size / 2)).toBe(expected);
  });

  it('at a refcount block', async () => {
    const builder = new ImageBuilder({ size });
    builder.data(0, pattern(cluster));
    builder.build();
    const block = builder.refcountTableOffset + cluster;
    expect(
      await codes(
        make(() => BigInt(block)),
        size / 2,
      ),
    ).toBe('ERR_CORRUPT');
  });

  it('inside the table of another entry, which is in the cache', async () => {
    const node = await openNode(make((builder) => BigInt(builder.l2Offset(0)) + 4096n));
    const half = size / 2;
    // The slice that a table placed there would begin with.
    node.blockStatus(512 * cluster, 1);
    expect(() => node.blockStatus(half, 1)).toThrow(expect.objectContaining({ code: 'ERR_CORRUPT' }));
    await node.close();
  });

  it('damage in one place leaves the rest readable', async () => {
    const image = make(() => 512n);
    expect(await codes(image, 0)).toBe('fine');
  });
});

describe('an extent', () => {
  it('ends before an entry that is wrong', async () => {
    const builder = new ImageBuilder({ size: 10 * cluster });
    const place = builder.data(0, pattern(3 * cluster));
    builder.entry(3 * cluster, copied | BigInt(place + 3 * cluster + 512));
    const node = await openNode(builder.build());
    expect(await node.blockStatus(0, node.size)).toMatchObject({ length: 3 * cluster, data: true });
    expect(() => node.blockStatus(3 * cluster, 1)).toThrow(expect.objectContaining({ code: 'ERR_CORRUPT' }));
    expect(await node.blockStatus(4 * cluster, cluster)).toMatchObject({ present: false });
    await node.close();
  });

  it('ends before a cluster that lies over a table', async () => {
    const table = new ImageBuilder({ size: 10 * cluster });
    table.data(0, pattern(cluster));
    const first = table.l2Offset(0) + 2 * cluster;
    // L1, the L2 table, data, then the refcount table: as if one run.
    table.entry(cluster, copied | BigInt(first));
    const damaged = await openNode(table.build());
    expect(await damaged.blockStatus(0, damaged.size)).toMatchObject({ length: cluster, data: true });
    expect(() => damaged.read(0, new Uint8Array(2 * cluster))).toThrow(
      expect.objectContaining({ code: 'ERR_CORRUPT', offset: cluster }),
    );
    await damaged.close();
  });
});

describe('a table cut short by the end of the file', () => {
  it('is an error at open for L1 and the refcount table', async () => {
    const builder = new ImageBuilder();
    const image = builder.build();
    await expect(openNode(image.slice(0, builder.refcountTableOffset + 100))).rejects.toMatchObject({
      code: 'ERR_IMAGE_TRUNCATED',
    });
    await expect(openNode(image.slice(0, builder.l1Offset + 7))).rejects.toMatchObject({
      code: 'ERR_IMAGE_TRUNCATED',
    });
  });

  it('is an error for the entries of an L2 table that are not there, and for no others', async () => {
    const builder = new ImageBuilder({ size: 100 * cluster });
    const place = builder.data(0, pattern(cluster));
    builder.build();
    const table = builder.l2Offset(0);
    const image = builder.build();
    const longer = new Uint8Array(image.length + 80);
    longer.set(image);
    const view = new DataView(longer.buffer);
    view.setBigUint64(builder.l1Offset, copied | BigInt(image.length));
    view.setBigUint64(image.length, copied | BigInt(place));
    expect(table).not.toBe(image.length);
    expect(await codes(longer, 0)).toBe('fine');
    expect(await codes(longer, 9 * cluster)).toBe('fine');
    expect(await codes(longer, 10 * cluster)).toBe('ERR_IMAGE_TRUNCATED');
  });
});
