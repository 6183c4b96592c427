import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegistry, type Disk, type Extent, type OpenSettings } from '@blockyard/core';
import { native } from '@blockyard/native';
import { rawPosix } from '@blockyard/raw-posix';
import {
  type Digest,
  digest,
  type ImageEntry,
  images,
  type MappedExtent,
  unpack,
} from '@blockyard/test-images';
import { afterAll, describe, expect, test } from 'vitest';
import { qcow2 } from '../src/index.ts';
import { comparable } from './support/comparable.ts';

const drivers = createRegistry([rawPosix(), qcow2()]);
const directory = mkdtempSync(join(tmpdir(), 'blockyard-images-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Opens as a user does who trusts what lies in one directory. */
async function open(image: ImageEntry, settings: OpenSettings = {}): Promise<Disk> {
  const path = unpack(image, directory);
  const probe = image.tags.includes('no-format');
  const { format } = image;
  return await drivers.open(path, {
    format,
    probe,
    references: 'same-directory',
    ...settings,
    options: { readOnly: true, ...settings.options },
  });
}

async function extentsOf(disk: Disk): Promise<Extent[]> {
  const extents: Extent[] = [];
  for await (const extent of disk.extents()) extents.push(extent);
  return extents;
}

async function digestOf(disk: Disk, extents: readonly Extent[]): Promise<Digest> {
  const runs = extents.filter(({ zero }) => !zero).map(({ offset, length }) => ({ start: offset, length }));
  return await digest({ size: disk.size, runs, read: (offset, length) => disk.read(offset, length) });
}

/** qemu takes a raw backing file up to the end of its last sector; here it ends with its last byte. */
function withExactBacking(map: readonly MappedExtent[], { files }: ImageEntry): MappedExtent[] {
  const ends = files.slice(1).map(({ bytes }) => bytes);
  return map.map((extent) =>
    extent.zero && !extent.data && ends.includes(extent.start) && extent.start % 512 !== 0
      ? { ...extent, depth: 0, present: false }
      : extent,
  );
}

/** Files over node:fs do not say where their bytes are. */
const places = native !== undefined;

const readable = images().filter(({ tags }) => !tags.includes('encrypted'));

describe('images of the real qemu-img', () => {
  test.each(readable)('$name: $about', async (image) => {
    await using disk = await open(image);
    expect(disk.size).toBe(image.virtualSize);
    const extents = await extentsOf(disk);
    expect(await digestOf(disk, extents)).toEqual(image.content);
    const told = extents.map(({ offset, hostOffset, ...rest }) => ({
      ...rest,
      start: offset,
      offset: places ? hostOffset : undefined,
    }));
    const expected = withExactBacking(image.map, image);
    expect(comparable(told)).toEqual(
      comparable(places ? expected : expected.map(({ offset, ...rest }) => rest)),
    );
  });

  const shots = images('snapshots').flatMap((image) =>
    (image.snapshots ?? []).map((snapshot) => ({
      image,
      snapshot,
      title: `${image.name} ${snapshot.id} '${snapshot.name}'`,
    })),
  );
  test.each(shots)('snapshot $title', async ({ image, snapshot }) => {
    await using disk = await open(image, { options: { snapshot: snapshot.id } });
    expect(disk.size).toBe(snapshot.size);
    expect(await digestOf(disk, await extentsOf(disk))).toEqual(snapshot.content);
  });

  test.each(images('encrypted'))('$name is refused by name', async (image) => {
    await expect(open(image)).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED_FEATURE',
      message: expect.stringMatching(/encrypt/i),
    });
  });

  test.each(images('no-format'))('$name is not probed unasked', async (image) => {
    await expect(open(image, { probe: false })).rejects.toMatchObject({ code: 'ERR_FORMAT_REQUIRED' });
  });

  test.each([...images('backing'), ...images('data-file')])(
    '$name: nothing is followed unless allowed',
    async (image) => {
      await expect(open(image, { references: 'deny', probe: true })).rejects.toMatchObject({
        code: 'ERR_DENIED_REFERENCE',
      });
    },
  );

  test.each(images().filter(({ format }) => format === 'qcow2'))(
    '$name: what it says of itself',
    async (image) => {
      const told = await drivers.inspect(unpack(image, directory), { format: 'qcow2' });
      const { info } = image;
      expect(told.virtualSize).toBe(info['virtual-size']);
      expect(told.clusterSize).toBe(info['cluster-size']);
      expect(told.dirty ?? false).toBe(info['dirty-flag']);
      expect(told.backingFile).toBe(info['backing-filename']);
      expect(told.backingFormat).toBe(info['backing-filename-format']);
      const { encrypt, ...specific } = (info['format-specific'] as { data: Record<string, unknown> }).data;
      expect(told.formatSpecific).toMatchObject(specific);
      expect(told.encrypted ?? false).toBe(encrypt !== undefined);
      const names = (info.snapshots ?? []) as { id: string; name: string; 'date-sec': number }[];
      expect((told.snapshots ?? []).map(({ id, name, dateSec }) => ({ id, name, dateSec }))).toEqual(
        names.map(({ id, name, 'date-sec': dateSec }) => ({ id, name, dateSec })),
      );
    },
  );
});
