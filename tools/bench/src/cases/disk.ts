import type { NodeOptions } from '@blockyard/core';
import type { Images } from '../images.ts';
import type { Case } from '../pairs.ts';
import { fio, run, worker } from '../run.ts';

const file = (filename: string, aio: string, direct: boolean): NodeOptions => ({
  driver: 'file',
  filename,
  aio,
  cache: { direct },
});

/** Direct I/O at one block size and depth, against fio with the same engine. */
function direct(
  images: Images,
  seconds: number,
  shape: { aio: string; ioengine: string; rw: string; block: number; depth: number; bar: number },
): Case {
  const { aio, ioengine, rw, block, depth, bar } = shape;
  const label = block >= 1 << 20 ? `${block >> 20} MiB` : `${block >> 10} KiB`;
  // The file is written over and over with the same pattern: its blocks stay allocated.
  const filename = images.raw;
  const write = rw.includes('write');
  const jobs = ioengine === 'psync' ? { numjobs: depth, iodepth: 1 } : { iodepth: depth };
  return {
    name: `direct ${label} ${rw} QD${depth}, ${aio}`,
    peer: `fio ${ioengine}`,
    kind: 'rate',
    unit: 'IOPS',
    bar,
    ours: () =>
      worker('load', {
        graph: file(filename, aio, true),
        block,
        depth,
        seconds,
        write,
        sequential: !rw.startsWith('rand'),
      }),
    theirs: () =>
      fio({
        filename,
        ioengine,
        rw,
        bs: block,
        direct: 1,
        runtime: seconds,
        ramp_time: '250ms',
        size: '2g',
        ...jobs,
      }),
  };
}

export function diskCases(images: Images, seconds: number): Case[] {
  const kib4 = 4096;
  const mib = 1 << 20;
  const ring = { aio: 'io_uring', ioengine: 'io_uring' };
  const pageCache = (): Case => ({
    name: 'page cache 4 KiB randread QD32, io_uring',
    peer: 'fs.promises',
    kind: 'rate',
    unit: 'IOPS',
    bar: 6,
    ours: () =>
      worker('load', { graph: file(images.text, 'io_uring', false), block: kib4, depth: 32, seconds }),
    theirs: () => worker('fs-promises', { filename: images.text, block: kib4, depth: 32, seconds }),
  });
  return [
    ...[1, 32, 128].map((depth) =>
      direct(images, seconds, { ...ring, rw: 'randread', block: kib4, depth, bar: 0.85 }),
    ),
    direct(images, seconds, { ...ring, rw: 'randwrite', block: kib4, depth: 32, bar: 0.85 }),
    ...['randread', 'randwrite'].map((rw) =>
      direct(images, seconds, { aio: 'native', ioengine: 'libaio', rw, block: kib4, depth: 32, bar: 0.85 }),
    ),
    ...['randread', 'randwrite'].map((rw) =>
      direct(images, seconds, { aio: 'threads', ioengine: 'psync', rw, block: kib4, depth: 32, bar: 0.7 }),
    ),
    ...['read', 'write'].map((rw) => direct(images, seconds, { ...ring, rw, block: mib, depth: 8, bar: 1 })),
    pageCache(),
  ];
}

export function qcow2Cases(images: Images, seconds: number): Case[] {
  const load = { block: 4096, depth: 32, seconds };
  const raw = file(images.raw, 'io_uring', true);
  const image: NodeOptions = { driver: 'qcow2', file: file(images.qcow2, 'io_uring', true) };
  const ours = () => worker('load', { ...load, graph: image, warm: true });
  const requests = 40_000;
  return [
    {
      name: 'qcow2 4 KiB randread QD32, direct',
      peer: 'our raw',
      kind: 'rate',
      unit: 'IOPS',
      bar: 0.85,
      ours,
      theirs: () => worker('load', { ...load, graph: raw }),
    },
    {
      name: 'qcow2 4 KiB randread QD32, direct',
      peer: 'qemu-img bench',
      kind: 'rate',
      unit: 'IOPS',
      bar: 1,
      ours,
      async theirs() {
        // A step that is no divisor of the size visits the image in an order no read-ahead follows.
        const shape = ['-c', `${requests}`, '-d', '32', '-s', '4096', '-S', `${4096 * 70_001}`];
        const text = await run('qemu-img', [
          'bench',
          '-f',
          'qcow2',
          '-t',
          'none',
          '-i',
          'io_uring',
          ...shape,
          images.qcow2,
        ]);
        return { value: requests / Number(/completed in ([\d.]+) seconds/.exec(text)?.[1]) };
      },
    },
  ];
}
