import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConformanceOptions, Fixture } from '@blockyard/conformance';
import { conformance } from '@blockyard/conformance/vitest';
import { createRegistry, type NodeOptions } from '@blockyard/core';
import { rawPosix } from '@blockyard/raw-posix';
import { afterAll } from 'vitest';
import { qcow2 } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'blockyard-qcow2-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const drivers = createRegistry([rawPosix(), qcow2()]);
let made = 0;

/** A new image of our own making for every check. */
async function fixture(
  creation: Record<string, unknown>,
  open: Partial<NodeOptions>,
  size: number,
): Promise<Fixture> {
  const filename = join(directory, `${made++}.qcow2`);
  const backing = creation.backingFile as string | undefined;
  const content = new Uint8Array(size);
  if (backing !== undefined) {
    const behind = { driver: 'file', filename: join(directory, backing) };
    await drivers.create(behind, { size: size - 10_000, overwrite: true });
    await using disk = await drivers.open({ driver: 'raw', file: behind });
    for (let at = 0; at < size - 10_000; at++) content[at] = (at >>> 9) + 1;
    await disk.write(0, content.subarray(0, size - 10_000));
  }
  await drivers.create({ driver: 'file', filename }, { format: 'qcow2', size, ...creation });
  const options = { driver: 'qcow2', file: { driver: 'file', filename }, ...open };
  return { options, size, content, cleanup: () => rmSync(filename, { force: true }) };
}

function optionsFor(
  name: string,
  creation: Record<string, unknown>,
  { open = {}, size = 1 << 20 }: { open?: Partial<NodeOptions>; size?: number } = {},
): ConformanceOptions {
  return {
    name: `written, ${name}`,
    driver: qcow2(),
    drivers: [rawPosix()],
    fixture: () => fixture(creation, open, size),
    supports: {
      ...{ write: true, writeZeroes: true, discard: true, blockStatus: true, resize: true, persist: true },
      compress: creation.dataFile === undefined,
    },
    settings: { references: 'same-directory' },
    runs: 4,
    passThrough: false,
  };
}

conformance({ ...optionsFor('defaults', {}), passThrough: true });
conformance(
  optionsFor('version 2, 512-byte clusters', { compat: '0.10', clusterSize: 512 }, { size: 300_001 }),
);
conformance(
  optionsFor(
    'extended L2, direct',
    { extendedL2: true, clusterSize: 16384 },
    { open: { cache: { direct: true } } },
  ),
);
conformance(
  optionsFor('backing, short', { clusterSize: 4096, backingFile: 'back.raw', backingFormat: 'raw' }),
);
conformance(
  optionsFor(
    '2 MiB clusters, wide refcounts',
    { clusterSize: 2 << 20, refcountBits: 64 },
    { size: 5_000_000 },
  ),
);
conformance(
  optionsFor('little cache', { clusterSize: 4096, refcountBits: 1 }, { open: { cacheSize: 4096 } }),
);
