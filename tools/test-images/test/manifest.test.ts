import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digest, images, imagesDirectory, readManifest, readStored, unpack } from '@blockyard/test-images';
import { describe, expect, test } from 'vitest';

const stored = (file: { name: string; gzip?: true }) => (file.gzip ? `${file.name}.gz` : file.name);

describe('test-images', () => {
  test('has an entry for every file, and every file of every entry', () => {
    const listed = images().flatMap((image) => image.files.map(stored));
    expect(new Set(listed).size).toBe(listed.length);
    expect(readdirSync(imagesDirectory).sort()).toEqual([...listed, 'README.md', 'manifest.json'].sort());
  });

  test('the files are the ones that the manifest describes', () => {
    for (const file of images().flatMap((image) => image.files)) {
      const bytes = readStored(file);
      expect(bytes.length, file.name).toBe(file.bytes);
      expect(createHash('sha256').update(bytes).digest('hex'), file.name).toBe(file.sha256);
    }
  });

  test('stays under 5 MB, and the demo under 1.5 MB', () => {
    const size = (name: string) => statSync(join(imagesDirectory, name)).size;
    const total = readdirSync(imagesDirectory).reduce((sum, name) => sum + size(name), 0);
    expect(total).toBeLessThan(5e6);
    expect(size('demo.qcow2') + size('demo-base.qcow2')).toBeLessThan(1.5e6);
  });

  test('names no directory of the machine that made it', () => {
    const places = /"[^"]*(?:\/(?:tmp|home|root|work|var|usr)\/|file:\/\/|blockyard-images-)/;
    expect(readFileSync(join(imagesDirectory, 'manifest.json'), 'utf8')).not.toMatch(places);
    for (const { name, info } of images()) {
      expect(String(info['backing-filename'] ?? ''), name).not.toContain('/');
    }
  });

  test('extents cover each disk exactly, in order', () => {
    for (const { name, map, virtualSize } of images()) {
      let at = 0;
      for (const { start, length } of map) {
        expect(start, name).toBe(at);
        expect(length, name).toBeGreaterThan(0);
        at += length;
      }
      expect(at, name).toBe(virtualSize);
    }
  });

  test.each([
    'v2',
    'v3',
    'lazy',
    'refcount',
    'cluster-size',
    'compressed',
    'zlib',
    'zstd',
    'zero',
    'extended-l2',
    'preallocation',
    'backing',
    'raw-behind',
    'deep',
    'data-file',
    'snapshots',
    'resized',
    'bitmaps',
    'dirty',
    'corrupt',
    'encrypted',
    'huge',
    'size',
    'raw',
    'demo',
  ])('has images for: %s', (tag) => {
    expect(images(tag).length).toBeGreaterThan(0);
  });

  test('unpacks an image with its files', () => {
    const directory = mkdtempSync(join(tmpdir(), 'blockyard-unpack-'));
    try {
      const [raw] = images('raw') as [ReturnType<typeof images>[number]];
      const path = unpack(raw, directory);
      const bytes = readFileSync(path);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(raw.content.value);
      const deep = readManifest().images.find(({ name }) => name === 'chain-3.qcow2') as typeof raw;
      unpack(deep, directory);
      expect(readdirSync(directory).sort()).toEqual([...deep.files.map(({ name }) => name), raw.name].sort());
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('digest', () => {
  test('of a huge disk depends on its bytes and its size, not on how they are told', async () => {
    const size = 2 ** 40;
    const read = (offset: number, length: number) => {
      const bytes = new Uint8Array(length);
      if (offset === 2 ** 39) bytes[5] = 1;
      return bytes;
    };
    const exact = await digest({ size, read, runs: [{ start: 2 ** 39 + 5, length: 1 }] });
    const coarse = await digest({
      size,
      read,
      runs: [
        { start: 2 ** 39 - 512, length: 1 << 20 },
        { start: 2 ** 39 + (1 << 20), length: 10 },
      ],
    });
    expect(coarse).toEqual(exact);
    expect(exact.algorithm).toBe('sha256-nonzero');
    expect(await digest({ size: size + 1, read, runs: [{ start: 2 ** 39, length: 512 }] })).not.toEqual(
      exact,
    );
    expect(await digest({ size, read, runs: [] })).not.toEqual(exact);
  });
});
