import { constants } from 'node:fs';
import { native } from '@blockyard/native';
import type { Measure } from '../pairs.ts';
import { type LoopOptions, loop, randomOffsets } from './loop.ts';

export interface EngineOptions extends LoopOptions {
  filename: string;
  block: number;
}

/** The engine without the block layer above it: what the layer costs is the difference. */
export async function bareEngine(options: EngineOptions): Promise<Measure> {
  if (!native) throw new Error('the native package could not be loaded');
  const fd = await native.files.open(options.filename, constants.O_RDONLY);
  const { size } = await native.files.status(fd);
  const engine = native.engine('io_uring');
  const next = randomOffsets(size, options.block);
  const buffers = Array.from(
    { length: options.depth },
    () => native?.memory.allocate(options.block, 4096) as Uint8Array,
  );
  const result = await loop(options, (lane) => engine.read(fd, next(), buffers[lane] as Uint8Array));
  await engine.close();
  await native.files.close(fd);
  return result;
}
