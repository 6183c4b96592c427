import { describe, expect, it } from 'vitest';
import { autoclear, readBitmaps, readHeader } from '../src/index.ts';
import { field, patched } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, openNode, registry } from './support/open.ts';

const inspect = (image: Uint8Array) => registry.inspect({ driver: 'qcow2', file: inMemory(image) });

describe('inspect', () => {
  it('tells what qemu-img info tells', async () => {
    expect(
      await inspect(new ImageBuilder({ size: 12345, refcountOrder: 3, compatible: 1n }).build()),
    ).toEqual({
      format: 'qcow2',
      virtualSize: 12345,
      clusterSize: 65536,
      encrypted: undefined,
      dirty: false,
      backingFile: undefined,
      backingFormat: undefined,
      dataFile: undefined,
      snapshots: undefined,
      formatSpecific: {
        compat: '1.1',
        'compression-type': 'zlib',
        'lazy-refcounts': true,
        'refcount-bits': 8,
        corrupt: false,
        'extended-l2': false,
      },
    });
    expect((await inspect(new ImageBuilder({ version: 2 }).build())).formatSpecific).toEqual({
      compat: '0.10',
      'compression-type': 'zlib',
      'refcount-bits': 16,
    });
  });

  it('tells of corrupt, dirty and encrypted images', async () => {
    const image = new ImageBuilder().build();
    expect(await inspect(patched(image, field.incompatible, 3, 8))).toMatchObject({
      dirty: true,
      formatSpecific: { corrupt: true },
    });
    expect(await inspect(patched(image, field.cryptMethod, 2, 4))).toMatchObject({
      encrypted: true,
      formatSpecific: { encrypt: { format: 'luks' } },
    });
    await expect(openNode(patched(image, field.cryptMethod, 1, 4))).rejects.toThrow(/AES/);
    await expect(openNode(patched(image, field.cryptMethod, 2, 4))).rejects.toThrow(/LUKS/);
  });
});

describe('persistent bitmaps', () => {
  const builder = new ImageBuilder().bitmap('daily', 16, 2).bitmap('größer', 20, 3).bitmap('off', 9, 0);
  const image = builder.build();
  const directory = builder.bitmapDirectoryOffset;

  it('are listed', async () => {
    const { formatSpecific } = await inspect(image);
    expect(formatSpecific?.bitmaps).toEqual([
      { flags: ['auto'], name: 'daily', granularity: 65536 },
      { flags: ['in-use', 'auto'], name: 'größer', granularity: 1 << 20 },
      { flags: [], name: 'off', granularity: 512 },
    ]);
    const file = await registry.openNode({ driver: 'memory', data: image });
    expect((await readBitmaps(await readHeader(file), file))[0]).toMatchObject({
      name: 'daily',
      inUse: false,
      auto: true,
      tableSize: 1,
    });
    await file.close();
  });

  it('are out of date, and not told, without the autoclear bit', async () => {
    expect((await inspect(patched(image, field.autoclear, 0, 8))).formatSpecific).not.toHaveProperty(
      'bitmaps',
    );
    expect(autoclear.bitmaps).toBe(0);
  });

  it.each([
    ['a count of 0', 120, 0, 4, 'ERR_INVALID_IMAGE'],
    ['a count too large', 120, 65536, 4, 'ERR_INVALID_IMAGE'],
    ['a count that does not fit', 120, 100, 4, 'ERR_INVALID_IMAGE'],
    ['one too few', 120, 2, 4, 'ERR_INVALID_IMAGE'],
    ['a directory above 2^53', 128, -1n, 8, 'EFBIG'],
    ['a directory too large', 128, 1n << 40n, 8, 'ERR_INVALID_IMAGE'],
    ['a directory larger than the file', 128, 1n << 25n, 8, 'ERR_IMAGE_TRUNCATED'],
    ['a directory past the end', 136, 1n << 40n, 8, 'ERR_IMAGE_TRUNCATED'],
    ['a directory off a cluster', 136, 100, 8, 'ERR_INVALID_IMAGE'],
    ['unknown flags', directory + 12, 16, 4, 'ERR_INVALID_IMAGE'],
    ['an unknown type', directory + 16, 2, 1, 'ERR_INVALID_IMAGE'],
    ['a granularity too small', directory + 17, 8, 1, 'ERR_INVALID_IMAGE'],
    ['a granularity too large', directory + 17, 32, 1, 'ERR_INVALID_IMAGE'],
    ['a name too long', directory + 18, 0xffff, 2, 'ERR_INVALID_IMAGE'],
    ['extra data too long', directory + 20, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
  ] as const)('with %s are an error, and the disk is readable', async (_name, at, value, size, code) => {
    const damaged = patched(image, at, value, size);
    await expect(inspect(damaged)).rejects.toMatchObject({ name: 'BlockError', code });
    await (await openNode(damaged)).close();
  });
});
