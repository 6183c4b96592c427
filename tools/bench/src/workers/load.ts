import { createRegistry, type NodeOptions } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import type { Measure } from '../pairs.ts';
import { type LoopOptions, loop, randomOffsets, sequentialOffsets } from './loop.ts';

export interface LoadOptions extends LoopOptions {
  graph: NodeOptions;
  block: number;
  write?: boolean;
  sequential?: boolean;
  /** Read every cluster's mapping first. */
  warm?: boolean;
}

/** Load on a disk through its public methods, one promise for each request. */
export async function load(options: LoadOptions): Promise<Measure> {
  const drivers = createRegistry([rawPosix(), qcow2()]);
  const disk = await drivers.open({ ...options.graph, readOnly: !options.write });
  if (options.warm) for await (const _ of disk.extents());
  const next = (options.sequential ? sequentialOffsets : randomOffsets)(disk.size, options.block);
  const buffers = Array.from({ length: options.depth }, () => disk.allocate(options.block).fill(0xa5));
  const result = await loop(options, (lane) => {
    const buffer = buffers[lane] as Uint8Array;
    return options.write ? disk.write(next(), buffer) : disk.read(next(), buffer);
  });
  if (disk.stats.bounces > 0)
    throw new Error('requests were copied: the buffers are not aligned for this disk');
  await disk.close();
  return result;
}
