import type { BlockDriver, BlockNode } from '@blockyard/core';
import { Breath } from '../breath.ts';
import { withoutFilters } from '../chain.ts';
import { ExtentCursor } from '../cursor.ts';
import { checkCount, type OperationOptions, ProgressCounter } from '../operation.ts';
import { bitmapBytes } from './bitmaps.ts';
import { ClusterCount } from './clusters.ts';

/** Sizes in bytes of a new image of the format asked for. */
export interface Measurement {
  /** Size of the file with this content. A raw file is as large as its disk. */
  required: number;
  /** Size of the file with every byte allocated. */
  fullyAllocated: number;
  /** Bytes that are not known to be zero: what a sparse raw file occupies, up to the blocks of its file system. */
  data?: number;
  /** What the bitmaps of the disk take besides, where both formats keep bitmaps. */
  bitmaps?: number;
}

export interface MeasureOptions extends Pick<OperationOptions, 'signal' | 'onProgress'> {
  /** Driver of the new image's format (default: a raw image). */
  format?: BlockDriver | undefined;
  /** What it would be made with, as for the driver's `create`; without the size. */
  creation?: Readonly<Record<string, unknown>> | undefined;
}

/** The size of a new image of so many bytes, or with the content of a disk. */
export async function measure(what: BlockNode | number, options: MeasureOptions = {}): Promise<Measurement> {
  const { format, creation } = options;
  const size = typeof what === 'number' ? what : what.size;
  if (typeof what === 'number') checkCount('size', what, 0);
  const tell = format?.measure?.bind(format);
  const sizes = (allocated: (clusterSize: number) => number) =>
    tell ? tell({ ...creation, size }, { allocated }) : { required: size, fullyAllocated: size };
  let clusterSize = 1;
  const empty = sizes((found) => {
    clusterSize = found;
    return 0;
  });
  if (typeof what === 'number') return { required: empty.required, fullyAllocated: empty.fullyAllocated };
  const clusters = new ClusterCount(clusterSize);
  const data = await countData(what, clusters, options);
  const { required, fullyAllocated } = sizes(() => clusters.bytes);
  const store = tell ? withoutFilters(what).features.bitmaps : undefined;
  if (!store) return { required, fullyAllocated, data };
  const kept = (await store.list()).filter(({ inconsistent }) => !inconsistent);
  return { required, fullyAllocated, data, bitmaps: bitmapBytes(kept, size, clusterSize) };
}

async function countData(node: BlockNode, clusters: ClusterCount, options: MeasureOptions): Promise<number> {
  const { size } = node;
  // A format's clusters are counted as qemu-img counts them: it does not look for holes in those that are assigned.
  const cursor = new ExtentCursor(node, options.signal, { shallow: options.format?.measure !== undefined });
  const progress = new ProgressCounter(size, options);
  const breath = new Breath();
  let data = 0;
  for (let at = 0; at < size; ) {
    const pause = breath.take();
    if (pause) await pause;
    const { length, zero } = await cursor.at(at, size);
    if (!zero) {
      data += length;
      clusters.add(at, length);
    }
    progress.add(length, zero ? length : 0);
    at += length;
  }
  return data;
}
