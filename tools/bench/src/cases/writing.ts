import { rm, stat } from 'node:fs/promises';
import type { NodeOptions } from '@blockyard/core';
import type { Images } from '../images.ts';
import type { Case } from '../pairs.ts';
import { run, worker } from '../run.ts';

interface Shape {
  name: string;
  /** Bytes of the disk. */
  size: number;
  requests: number;
  block: number;
  depth: number;
  step: number;
  value?: number;
  /** Write into this image, which has everything allocated, instead of a new one. */
  into?: string;
  detectZeroes?: 'on';
}

const kib = 1024;
const mib = 1 << 20;
const gib = 2 ** 30;

/** Requests to a new or an allocated image, against `qemu-img bench -w` with just the same ones. */
function writes(images: Images, shape: Shape): Case {
  const { name, size, requests, block, depth, step, value = 0xa5, into, detectZeroes } = shape;
  const filename = into ?? images.written;
  const fresh = async () => {
    if (into) return;
    await rm(filename, { force: true });
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', filename, `${size}`]);
  };
  const graph: NodeOptions = {
    driver: 'qcow2',
    cache: { direct: true },
    ...(detectZeroes ? { detectZeroes } : {}),
    file: { driver: 'file', filename, aio: 'io_uring' },
  };
  return {
    name,
    peer: 'qemu-img bench -w',
    kind: 'rate',
    unit: 'IOPS',
    bar: 1,
    async ours() {
      await fresh();
      const measured = await worker('write-shape', { graph, requests, block, depth, step, value });
      if (detectZeroes) process.stderr.write(` [${((await stat(filename)).blocks / 2).toFixed(0)} KiB]`);
      return measured;
    },
    async theirs() {
      await fresh();
      const below = `file.driver=file,file.filename=${filename},file.aio=io_uring,file.cache.direct=on`;
      const image = `driver=qcow2,cache.direct=on,${detectZeroes ? 'detect-zeroes=on,' : ''}${below}`;
      const load = ['-c', `${requests}`, '-d', `${depth}`, '-s', `${block}`, '-S', `${step}`];
      const text = await run('qemu-img', [
        'bench',
        '-w',
        `--pattern=${value}`,
        '-t',
        'none',
        ...load,
        '--image-opts',
        image,
      ]);
      return { value: requests / Number(/completed in ([\d.]+) seconds/.exec(text)?.[1]) };
    },
  };
}

/** Steps that are no divisors of the size: in an order that no read-ahead and no merging follows. */
const scattered = 4 * kib * 70_001;

export const writingCases = (images: Images): Case[] => [
  writes(images, {
    name: 'qcow2 4 KiB random write QD32, allocated',
    ...{
      size: 2 * gib,
      requests: 40_000,
      block: 4 * kib,
      depth: 32,
      step: scattered,
      into: images.overwritten,
    },
  }),
  writes(images, {
    name: 'qcow2 4 KiB random write QD32, empty',
    ...{ size: 8 * gib, requests: 10_000, block: 4 * kib, depth: 32, step: scattered },
  }),
  writes(images, {
    name: 'qcow2 64 KiB sequential write QD32, empty',
    ...{ size: 2 * gib, requests: 8192, block: 64 * kib, depth: 32, step: 64 * kib },
  }),
  writes(images, {
    name: 'qcow2 1 MiB sequential write QD8, empty',
    ...{ size: 2 * gib, requests: 1024, block: mib, depth: 8, step: mib },
  }),
  writes(images, {
    name: 'qcow2 10 GiB of zeroes, detectZeroes on',
    ...{ size: 10 * gib, requests: 10_240, block: mib, depth: 8, step: mib, value: 0, detectZeroes: 'on' },
  }),
  {
    name: 'memory of random I/O on 16 TiB qcow2',
    peer: 'nothing',
    kind: 'added',
    unit: 'MB',
    bar: 150,
    async ours() {
      await rm(images.huge, { force: true });
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', images.huge, '16T']);
      const file = { driver: 'file', filename: images.huge };
      return await worker('memory-use', { graph: { driver: 'qcow2', file }, requests: 4000 });
    },
    theirs: async () => ({ value: 0 }),
  },
];
