import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConformanceOptions, type Fixture, runChecks } from '@blockyard/conformance';
import { conformance } from '@blockyard/conformance/vitest';
import { createRegistry, type OpenSettings } from '@blockyard/core';
import { rawPosix } from '@blockyard/raw-posix';
import { type ImageEntry, images, image as named, unpack } from '@blockyard/test-images';
import { afterAll, describe, expect, test } from 'vitest';
import { qcow2 } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'blockyard-qcow2-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const settings: OpenSettings = { references: 'same-directory', probe: true };
const drivers = createRegistry([rawPosix(), qcow2()]);

/** A disk whose content is known to be right, because it has the digest that the real qemu-img gave it. */
async function fixtureOf(image: ImageEntry, direct: boolean): Promise<Fixture> {
  const filename = unpack(image, directory);
  const options = { driver: 'qcow2', readOnly: true, cache: { direct }, file: { driver: 'file', filename } };
  await using disk = await drivers.open(options, settings);
  const content = await disk.read(0, disk.size);
  expect(createHash('sha256').update(content).digest('hex')).toBe(image.content.value);
  return { options, size: image.virtualSize, content };
}

function optionsFor(image: ImageEntry, direct = false): ConformanceOptions {
  let fixture: Promise<Fixture> | undefined;
  return {
    name: `${image.name}${direct ? ', direct' : ''}`,
    driver: qcow2(),
    drivers: [rawPosix()],
    fixture: () => (fixture ??= fixtureOf(image, direct)),
    supports: { blockStatus: true },
    settings,
    runs: 4,
  };
}

// What differs most, in full: every check is a test.
for (const name of [
  'chain-3.qcow2',
  'zero-subclusters.qcow2',
  'zlib-backed.qcow2',
  'size-partial-512.qcow2',
]) {
  conformance(optionsFor(named(name)));
}
conformance({ ...optionsFor(named('zstd-write.qcow2'), true), passThrough: false });

// Larger ones are read whole in images.test.ts; here every check reads its disk several times.
const matrix = images().filter(
  ({ format, tags, virtualSize }) =>
    format === 'qcow2' && !tags.includes('encrypted') && virtualSize <= 2 << 20,
);

describe('every image conforms', () => {
  test.each(matrix)('$name: $about', { timeout: 60_000 }, async (image) => {
    const failures: string[] = [];
    let passed = 0;
    for await (const event of runChecks({ ...optionsFor(image), passThrough: false })) {
      if (event.status === 'fail') failures.push(`${event.check.name}: ${event.error.message}`);
      if (event.status === 'pass') passed++;
    }
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(20);
  });
});
