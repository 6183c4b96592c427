import type { BlockNode } from '@blockyard/core';
import { Breath } from './breath.ts';
import { ExtentCursor } from './cursor.ts';
import { checkCount, type OperationOptions, ProgressCounter } from './operation.ts';

/** Sizes in bytes of a new image of the format asked for. */
export interface Measurement {
  /** Size of the file with this content. A raw file is as large as its disk. */
  required: number;
  /** Size of the file with every byte allocated. */
  fullyAllocated: number;
  /** Bytes that are not known to be zero: what a sparse raw file occupies, up to the blocks of its file system. */
  data?: number;
}

export interface MeasureOptions extends Pick<OperationOptions, 'signal' | 'onProgress'> {}

/** The size of a raw image of so many bytes, or with the content of a disk. */
export async function measure(what: BlockNode | number, options: MeasureOptions = {}): Promise<Measurement> {
  if (typeof what === 'number') {
    checkCount('size', what, 0);
    return { required: what, fullyAllocated: what };
  }
  const { size } = what;
  const cursor = new ExtentCursor(what, options.signal);
  const progress = new ProgressCounter(size, options);
  const breath = new Breath();
  let data = 0;
  for (let at = 0; at < size; ) {
    const pause = breath.take();
    if (pause) await pause;
    const { length, zero } = await cursor.at(at, size);
    if (!zero) data += length;
    progress.add(length, zero ? length : 0);
    at += length;
  }
  return { required: size, fullyAllocated: size, data };
}
