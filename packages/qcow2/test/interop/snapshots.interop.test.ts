import type { BlockNode } from '@blockyard/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Layout, most, Pair, snapshotsOf, step } from './pair.ts';
import { interop, Workspace } from './qemu.ts';

const layouts: Layout[] = [
  { name: 'clusters of 512 bytes', options: 'cluster_size=512', resizes: true },
  { name: 'clusters of 4 KiB', options: 'cluster_size=4k', resizes: true },
  { name: 'clusters of 64 KiB', options: '', resizes: true },
  { name: 'version 2', options: 'compat=0.10,cluster_size=1k', resizes: false },
  { name: 'extended L2', options: 'extended_l2=on,cluster_size=16k', resizes: true },
  { name: '8-bit refcounts', options: 'refcount_bits=8,cluster_size=512', resizes: true },
  {
    name: '64-bit refcounts and zstd',
    options: 'refcount_bits=64,compression_type=zstd,cluster_size=2k',
    resizes: true,
  },
];

interop('internal snapshots', () => {
  const space = new Workspace();

  it.each(layouts)(
    'of QEMU and of ours go through each other’s hands: $name',
    { timeout: 600_000 },
    async (layout) => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: most / 512 }),
          fc.array(step, { minLength: 1, maxLength: 14 }),
          async (sectors, steps) => {
            const pair = new Pair(space, layout, sectors * 512);
            for (const step of steps) {
              await pair.do(step);
              await pair.verify();
            }
            await pair.verifySnapshots();
          },
        ),
        { numRuns: Number(process.env.INTEROP_RUNS ?? 4) },
      );
    },
  );

  const ours = async <T>(name: string, work: (node: BlockNode) => Promise<T>): Promise<T> => {
    const file = { driver: 'file', filename: space.path(name) };
    const node = await space.registry.openNode(
      { driver: 'qcow2', readOnly: false, file },
      { references: 'same-directory' },
    );
    try {
      return await work(node);
    } finally {
      await node.close();
    }
  };

  it('are listed by QEMU as its own are', async () => {
    for (const side of ['ours', 'theirs']) space.create(`${side}.qcow2`, '1M', '');
    for (const name of ['first', '7', 'grüße', 'first']) {
      space.img('snapshot', '-c', name, 'theirs.qcow2');
      await ours('ours.qcow2', (node) => snapshotsOf(node).create(name));
    }
    const listed = (name: string) =>
      space.img('snapshot', '-l', name).replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'then');
    expect(listed('ours.qcow2')).toBe(listed('theirs.qcow2'));
  });

  it('are refused where QEMU refuses them', async () => {
    const refused = (name: string, kind: 'create' | 'apply') => {
      expect(() => space.img('snapshot', kind === 'create' ? '-c' : '-a', 'a', name)).toThrow();
      return ours(name, (node) =>
        expect(snapshotsOf(node)[kind]('a')).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' }),
      );
    };
    space.create('external.qcow2', '1M', 'data_file=external.data');
    await refused('external.qcow2', 'create');
    space.create('narrow.qcow2', '1M', 'refcount_bits=1');
    space.io('narrow.qcow2', ['write 0 64k']);
    await refused('narrow.qcow2', 'create');
    space.create('marked.qcow2', '1M', '');
    space.img('bitmap', '--add', 'marked.qcow2', 'b');
    await ours('marked.qcow2', (node) => snapshotsOf(node).create('a'));
    space.img('check', '-q', 'marked.qcow2');
    await refused('marked.qcow2', 'apply');
    await ours('marked.qcow2', (node) => node.truncate(3 << 20));
    await ours('marked.qcow2', (node) => snapshotsOf(node).delete('a'));
    space.img('check', '-q', 'marked.qcow2');
    expect(
      JSON.parse(space.img('info', '--output=json', 'marked.qcow2'))['format-specific'].data.bitmaps,
    ).toHaveLength(1);
  });
});
