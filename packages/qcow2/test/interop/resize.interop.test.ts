import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { interop, joined, type MapEntry, Workspace } from './qemu.ts';

const kib = 1024;

/**
 * Without places in the file, which each side chooses for itself. Whether assigned clusters are holes of the file is the
 * file system's business; behind the end of a backing file QEMU marks what is zero anyway.
 */
const shape = (entries: readonly MapEntry[]) =>
  joined(
    entries.map(({ start, length, depth, zero, data }) => ({
      ...{ start, length, data, depth: data ? depth : 0, zero: zero && !data, present: data },
    })),
  );

interop('a change of size', () => {
  const space = new Workspace();
  writeFileSync(space.path('base.raw'), randomBytes(900 * kib));

  const layouts = {
    plain: 'cluster_size=4k',
    'clusters of 64 KiB': '',
    'version 2': 'compat=0.10,cluster_size=4k',
    'extended L2': 'extended_l2=on,cluster_size=32k',
    'a data file': 'data_file=NAME.data',
    'a raw data file': 'data_file=NAME.data,data_file_raw=on',
    'a longer backing file': 'cluster_size=4k,backing_file=base.raw,backing_fmt=raw',
    'a longer backing file and extended L2':
      'extended_l2=on,cluster_size=16k,backing_file=base.raw,backing_fmt=raw',
  };

  const ours = async (name: string, size: number, options: object = {}) => {
    const file = { driver: 'file', filename: space.path(name) };
    const node = await space.registry.openNode(
      { driver: 'qcow2', readOnly: false, discard: 'unmap', file },
      { references: 'same-directory' },
    );
    try {
      await node.truncate(size, { shrink: true, ...options });
    } finally {
      await node.close();
    }
  };

  it.each(Object.entries(layouts))(
    'leaves what QEMU leaves: %s',
    { timeout: 120_000 },
    async (_name, options) => {
      for (const preallocation of ['off', 'metadata', 'falloc', 'full'] as const) {
        for (const side of ['ours', 'theirs']) {
          space.create(`${side}.qcow2`, 512 * kib, options.replace('NAME', side));
          space.io(`${side}.qcow2`, ['write -P 5 0 64k', 'write -P 6 448k 64k']);
        }
        const sizes = [1024 * kib, 448 * kib, 2048 * kib];
        for (const size of sizes) {
          const how = size === 448 * kib ? 'off' : preallocation;
          space.img('resize', '-q', '--shrink', `--preallocation=${how}`, 'theirs.qcow2', String(size));
          await ours('ours.qcow2', size, { preallocation: how });
          space.img('check', '-q', 'ours.qcow2');
          space.img('compare', '-q', 'ours.qcow2', 'theirs.qcow2');
          expect(JSON.parse(space.img('info', '--output=json', 'ours.qcow2'))['virtual-size']).toBe(size);
          expect(shape(space.map('ours.qcow2'))).toEqual(shape(space.map('theirs.qcow2')));
          if (!options.includes('data_file')) continue;
          expect(statSync(space.path('ours.data')).size).toBe(size);
        }
      }
    },
  );

  it('to any byte is read by QEMU in whole sectors, and what a larger disk held does not come back', async () => {
    space.create('byte.qcow2', 512 * kib, 'cluster_size=16k');
    space.io('byte.qcow2', ['write -P 5 0 512k']);
    await ours('byte.qcow2', 300_001);
    space.img('check', '-q', 'byte.qcow2');
    expect(JSON.parse(space.img('info', '--output=json', 'byte.qcow2'))['virtual-size']).toBe(299_520);
    await ours('byte.qcow2', 400_000);
    space.img('check', '-q', 'byte.qcow2');
    space.img('convert', '-O', 'raw', 'byte.qcow2', 'byte.raw');
    const disk = Buffer.alloc(399_872);
    disk.fill(5, 0, 300_001);
    expect(readFileSync(space.path('byte.raw')).equals(disk)).toBe(true);
  });

  it('beyond 2 TiB moves the L1 table', { timeout: 120_000 }, async () => {
    space.create('huge.qcow2', 512 * kib, 'cluster_size=4k');
    space.io('huge.qcow2', ['write -P 5 0 512k']);
    await ours('huge.qcow2', 2 ** 42);
    space.img('check', '-q', 'huge.qcow2');
    space.io('huge.qcow2', [`write -P 7 ${2 ** 42 - 4096} 4k`, 'read -P 5 0 512k']);
    space.img('check', '-q', 'huge.qcow2');
    await ours('huge.qcow2', 512 * kib);
    space.img('check', '-q', 'huge.qcow2');
    space.io('huge.qcow2', ['read -P 5 0 512k']);
    expect(statSync(space.path('huge.qcow2')).size).toBeLessThan(1024 * kib);
  });
});
