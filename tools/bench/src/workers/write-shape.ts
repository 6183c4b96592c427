import { createRegistry, type NodeOptions } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import type { Measure } from '../pairs.ts';

export interface WriteShapeOptions {
  graph: NodeOptions;
  requests: number;
  block: number;
  depth: number;
  /** Bytes from one request to the next; the disk is a ring. */
  step: number;
  /** Of every byte that is written. */
  value: number;
}

/** The requests that `qemu-img bench -w` makes, in the same order, timed as it times them: without opening and flushing. */
export async function writeShape(options: WriteShapeOptions): Promise<Measure> {
  const { requests, block, depth, step, value } = options;
  const drivers = createRegistry([rawPosix(), qcow2()]);
  const disk = await drivers.open(options.graph);
  const buffer = disk.allocate(block).fill(value);
  let started = 0;
  let offset = 0;
  const lane = async () => {
    while (started < requests) {
      started++;
      const at = offset;
      offset = (offset + step) % disk.size;
      await disk.write(at, buffer);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: depth }, lane));
  const seconds = (performance.now() - start) / 1000;
  await disk.close();
  return { value: requests / seconds };
}
