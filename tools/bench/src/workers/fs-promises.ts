import { open } from 'node:fs/promises';
import type { Measure } from '../pairs.ts';
import { type LoopOptions, loop, randomOffsets } from './loop.ts';

export interface PromisesOptions extends LoopOptions {
  filename: string;
  block: number;
}

/** What Node has without us: FileHandle.read. */
export async function fsPromises(options: PromisesOptions): Promise<Measure> {
  const file = await open(options.filename, 'r');
  const { size } = await file.stat();
  const next = randomOffsets(size, options.block);
  const buffers = Array.from({ length: options.depth }, () => Buffer.alloc(options.block));
  const result = await loop(options, (lane) => file.read(buffers[lane] as Buffer, 0, options.block, next()));
  await file.close();
  return result;
}
