import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { interop, Workspace } from './qemu.ts';

const size = 24 << 20;

/** Writes that leave every kind of cluster, given in KiB so that they suit every cluster size. */
function writes(options: string): string[] {
  const old = options.includes('compat=0.10');
  const cluster = /cluster_size=2M/.test(options) ? 2048 : 64;
  const data = [
    'write -P 1 0 100k',
    'write -P 2 1M 5k',
    'write -P 3 1500k 600k',
    'write -P 9 9001k 70k',
    `write -P 8 ${(size >> 10) - 1}k 1k`,
  ];
  const zeroes = old
    ? []
    : [
        'write -z 1600k 64k',
        'write -z -u 1700k 130k',
        'write -z 4M 3M',
        'discard 1800k 200k',
        'write -P 7 5M 3k',
      ];
  const compressed = options.includes('data_file')
    ? []
    : [10, 12, 14].map((at) => `write -c -P ${at} ${at}M ${cluster}k`);
  return [...data, ...zeroes, ...compressed];
}

const matrix = [
  '',
  'compat=0.10',
  'cluster_size=512',
  'cluster_size=4k',
  'cluster_size=2M',
  'refcount_bits=1',
  'refcount_bits=64,cluster_size=1k',
  'lazy_refcounts=on',
  'compression_type=zstd',
  'compression_type=zstd,cluster_size=2M',
  'extended_l2=on',
  'extended_l2=on,cluster_size=16k',
  'extended_l2=on,cluster_size=2M',
  'extended_l2=on,compression_type=zstd',
  'preallocation=metadata',
  'preallocation=metadata,cluster_size=4k',
  'preallocation=metadata,extended_l2=on',
  'preallocation=falloc',
  'preallocation=full',
  'data_file=ext.raw',
  'data_file=ext2.raw,data_file_raw=on',
  'data_file=ext3.raw,extended_l2=on',
  'data_file=ext4.raw,preallocation=metadata',
];

interop('qemu-img', () => {
  const space = new Workspace();

  it.each(matrix)("makes an image with '%s' that reads and maps the same here", async (options) => {
    const name = `matrix-${matrix.indexOf(options)}.qcow2`;
    space.create(name, size, options);
    space.io(
      name,
      options.includes('preallocation')
        ? writes(options).filter((one) => !one.includes('-c'))
        : writes(options),
    );
    await same(name);
  });

  it('compresses whole disks that read the same here', async () => {
    space.create('source.qcow2', size, '');
    space.io('source.qcow2', writes(''));
    for (const type of ['zlib', 'zstd']) {
      for (const cluster of ['512', '64k', '2M']) {
        const name = `compressed-${type}-${cluster}.qcow2`;
        const flags = ['-c', '-o', `compression_type=${type},cluster_size=${cluster}`];
        space.img('convert', '-O', 'qcow2', ...flags, 'source.qcow2', name);
        await same(name);
      }
    }
  });

  it('makes disks of odd sizes', async () => {
    for (const odd of [0, 512, 65536 * 3 + 512, 1000 * 1000 * 3]) {
      space.create(`odd-${odd}.qcow2`, odd, '');
      if (odd > 0) space.io(`odd-${odd}.qcow2`, ['write -P 5 0 512']);
      await same(`odd-${odd}.qcow2`);
    }
  });

  async function same(name: string): Promise<void> {
    space.img('convert', '-O', 'raw', name, 'out.raw');
    const model = readFileSync(space.path('out.raw'));
    const disk = await space.open(name);
    expect(disk.size).toBe(model.length);
    expect(Buffer.compare(await disk.read(0, disk.size), model)).toBe(0);
    for (let at = 777, step = 0; at < model.length && step < 200; at += 131_071, step++) {
      const length = Math.min(5000, model.length - at);
      expect(Buffer.compare(await disk.read(at, length), model.subarray(at, at + length))).toBe(0);
    }
    expect(await space.mapOf(disk)).toEqual(space.map(name));
    await disk.close();
  }
});
