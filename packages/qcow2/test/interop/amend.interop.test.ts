import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { BlockNode } from '@blockyard/core';
import { expect, it } from 'vitest';
import { qcow2 } from '../../src/index.ts';
import { interop, Workspace } from './qemu.ts';

const MiB = 2 ** 20;
const backing = 'backing_file=base.raw,backing_fmt=raw';

const starts: Record<string, { options: string; snapshots?: number; size?: number }> = {
  plain: { options: 'compat=1.1' },
  'plain with snapshots': { options: 'compat=1.1', snapshots: 2 },
  'version 2': { options: 'compat=0.10', snapshots: 1 },
  backed: { options: backing },
  'backed with snapshots': { options: `${backing},cluster_size=4k`, snapshots: 2 },
  'small clusters': { options: 'cluster_size=512,lazy_refcounts=on', snapshots: 1 },
  'wide refcounts': { options: 'refcount_bits=64', snapshots: 1 },
  'narrow refcounts': { options: 'refcount_bits=2,cluster_size=512', snapshots: 1 },
  'one bit': { options: 'refcount_bits=1,cluster_size=1k' },
  'data file': { options: 'data_file=ext.raw,data_file_raw=on' },
  'extended L2': { options: 'extended_l2=on' },
  zstd: { options: 'compression_type=zstd' },
};
const changes: Record<string, Record<string, unknown>> = {
  'compat=0.10': { compat: '0.10' },
  'compat=1.1': { compat: '1.1' },
  'compat=1.1,lazy_refcounts=on': { compat: 'v3', lazyRefcounts: true },
  'lazy_refcounts=on': { lazyRefcounts: true },
  'lazy_refcounts=off': { lazyRefcounts: false },
  'refcount_bits=1': { refcountBits: 1 },
  'refcount_bits=8': { refcountBits: 8 },
  'refcount_bits=16': { refcountBits: 16 },
  'refcount_bits=64': { refcountBits: 64 },
  'refcount_bits=3': { refcountBits: 3 },
  'compat=0.10,refcount_bits=16': { compat: 'v2', refcountBits: 16 },
  'compat=1.1,refcount_bits=4': { compat: '1.1', refcountBits: 4 },
  'data_file=ext.raw': { dataFile: 'ext.raw' },
  'data_file_raw=on': { dataFileRaw: true },
  'data_file_raw=off': { dataFileRaw: false },
};

interop('amending', () => {
  const space = new Workspace();
  const random = new Uint8Array(3 * MiB).map((_, i) => (i * 2654435761) >>> 24);
  writeFileSync(space.path('base.raw'), random);

  const info = (name: string) => {
    const {
      filename: _filename,
      children: _children,
      'actual-size': _size,
      snapshots,
      ...told
    } = JSON.parse(space.img('info', '--output=json', name));
    return { ...told, snapshots: snapshots?.length };
  };
  const contents = (name: string, snapshots: number): Buffer[] =>
    ['', ...Array.from({ length: snapshots }, (_, i) => `s${i}`)].map((snapshot) => {
      space.img('convert', '-O', 'raw', ...(snapshot ? ['-l', snapshot] : []), name, 'out.raw');
      return readFileSync(space.path('out.raw'));
    });

  it.each(Object.keys(starts))(
    'does to an image what qemu-img does: %s',
    { timeout: 120_000 },
    async (start) => {
      const { options, snapshots = 0, size = 2 * MiB } = starts[start] as (typeof starts)[string];
      space.create('start.qcow2', size, options);
      const old = options.includes('compat=0.10');
      const zeroes = old ? [] : ['write -z 128k 64k', 'write -z -u 320k 64k', 'write -z 512k 300k'];
      space.io('start.qcow2', ['write -P 1 0 256k', 'write -P 2 300k 100k', ...zeroes]);
      for (let i = 0; i < snapshots; i++) {
        space.img('snapshot', '-c', `s${i}`, 'start.qcow2');
        space.io('start.qcow2', [
          `write -P ${i + 5} ${i * 64}k 70k`,
          ...(old ? [] : [`write -z ${i * 100}k 80k`]),
        ]);
      }
      if (options.includes('data_file')) copyFileSync(space.path('ext.raw'), space.path('start.raw'));
      const before = contents('start.qcow2', snapshots);
      for (const [theirs, ours] of Object.entries(changes)) {
        copyFileSync(space.path('start.qcow2'), space.path('theirs.qcow2'));
        copyFileSync(space.path('start.qcow2'), space.path('ours.qcow2'));
        if (options.includes('data_file')) copyFileSync(space.path('start.raw'), space.path('ext.raw'));
        const done = spawnSync('qemu-img', ['amend', '-o', theirs, 'theirs.qcow2'], { cwd: space.directory });
        const what = `${start}: ${theirs}`;
        const file: BlockNode = await space.registry.openNode({
          driver: 'file',
          filename: space.path('ours.qcow2'),
        });
        const amending = qcow2().amend?.(file, ours) ?? Promise.reject(new Error('no amend'));
        const amended = await amending.then(
          () => undefined,
          (error: Error) => error,
        );
        await file.close();
        // QEMU forgets the type of compression, with which clusters could not be read any more.
        const forgotten = start === 'zstd' && /0\.10/.test(theirs) && done.status === 0;
        if (forgotten) expect(amended?.message).toMatch(/zstd/);
        else
          expect(amended === undefined, `${what}: ${amended?.message} / ${done.stderr}`).toBe(
            done.status === 0,
          );
        if (amended) {
          expect(readFileSync(space.path('ours.qcow2')).equals(readFileSync(space.path('start.qcow2')))).toBe(
            true,
          );
          continue;
        }
        space.img('check', '-q', 'ours.qcow2');
        expect(info('ours.qcow2'), what).toEqual(info('theirs.qcow2'));
        const same = contents('ours.qcow2', snapshots).map((one, i) => one.equals(before[i] as Buffer));
        expect(same, what).not.toContain(false);
        space.io('ours.qcow2', ['write -P 9 1M 20k', 'write -P 10 600k 30k']);
        space.img('check', '-q', 'ours.qcow2');
      }
    },
  );
});
