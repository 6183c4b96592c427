import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { qcow2 } from '../../src/index.ts';
import { interop, Workspace } from './qemu.ts';

const TiB = 2 ** 40;
const sizes = [0, 1, 512, 65536, 2 ** 20 + 512, 2 ** 30, 100 * 2 ** 30, TiB, 16 * TiB];
const options: Record<string, Record<string, unknown>> = {
  'compat=1.1': {},
  'compat=0.10': { compat: '0.10' },
  'cluster_size=512': { clusterSize: 512 },
  'cluster_size=4k': { clusterSize: 4096 },
  'cluster_size=2M': { clusterSize: 2 ** 21 },
  'refcount_bits=1': { refcountBits: 1 },
  'refcount_bits=64': { refcountBits: 64 },
  'refcount_bits=1,cluster_size=512': { refcountBits: 1, clusterSize: 512 },
  'refcount_bits=64,cluster_size=1k': { refcountBits: 64, clusterSize: 1024 },
  'extended_l2=on': { extendedL2: true },
  'extended_l2=on,cluster_size=16k': { extendedL2: true, clusterSize: 16384 },
  'preallocation=metadata': { preallocation: 'metadata' },
  'preallocation=falloc': { preallocation: 'falloc' },
  'preallocation=full,cluster_size=4k': { preallocation: 'full', clusterSize: 4096 },
  'data_file=x.raw': { dataFile: 'x.raw' },
};

interop('measuring', () => {
  const space = new Workspace();

  const theirs = (...args: string[]): Record<string, number> | undefined => {
    try {
      const run = ['measure', '-O', 'qcow2', '--output=json', ...args];
      return JSON.parse(
        execFileSync('qemu-img', run, { cwd: space.directory, encoding: 'utf8', stdio: 'pipe' }),
      );
    } catch {
      return undefined;
    }
  };
  const ours = (creation: Record<string, unknown> & { size: number }, allocated = 0, bitmaps?: number) => {
    try {
      const told = qcow2().measure?.(creation, { allocated: () => allocated, bitmaps });
      if (!told) throw new Error('no measure');
      const { required, fullyAllocated } = told;
      const map = told.bitmaps === undefined ? {} : { bitmaps: told.bitmaps };
      return { required, 'fully-allocated': fullyAllocated, ...map };
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_INVALID_OPTION' });
      return undefined;
    }
  };

  it.each(Object.entries(options))('tells the numbers of qemu-img for sizes: %s', (text, creation) => {
    for (const size of sizes)
      expect(ours({ size, ...creation }), String(size)).toEqual(theirs('-o', text, '--size', String(size)));
  });

  it('tells the numbers of qemu-img for an image, and of its bitmaps', () => {
    space.create('image.qcow2', '40M', '');
    space.io('image.qcow2', ['write 0 1M', 'write 20M 3k', 'write -z 30M 1M']);
    space.img('bitmap', '--add', 'image.qcow2', 'b0');
    const known = theirs('-f', 'qcow2', 'image.qcow2') as Record<string, number>;
    expect(ours({ size: 40 * 2 ** 20 }, 17 * 65536, known.bitmaps)).toEqual(known);
    const small = theirs('-o', 'cluster_size=4k', '-f', 'qcow2', 'image.qcow2') as Record<string, number>;
    expect(ours({ size: 40 * 2 ** 20, clusterSize: 4096 }, 257 * 4096, small.bitmaps)).toEqual(small);
  });
});
