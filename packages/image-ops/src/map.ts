import { type BlockNode, continues, type Extent } from '@blockyard/core';
import { Breath } from './breath.ts';
import { checkCount, type OperationOptions, ProgressCounter } from './operation.ts';

export interface MapOptions extends Pick<OperationOptions, 'signal' | 'onProgress'> {
  /** First byte (default 0). */
  start?: number | undefined;
  /** Bytes (default: to the end). */
  length?: number | undefined;
}

/** The extents of a disk in order, neighbours that say the same joined: `qemu-img map`. */
export async function* map(
  node: BlockNode,
  options: MapOptions = {},
): AsyncGenerator<Extent, void, undefined> {
  const { start = 0, signal } = options;
  checkCount('start', start, 0);
  checkCount('length', options.length ?? 0, 0);
  const end = Math.min(node.size, start + (options.length ?? node.size));
  const progress = new ProgressCounter(Math.max(0, end - start), options);
  const breath = new Breath();
  let joined: Extent | undefined;
  for (let at = start; at < end; ) {
    const pause = breath.take();
    if (pause) await pause;
    const next = await node.blockStatus(at, end - at, { signal });
    at += next.length;
    progress.add(next.length, next.zero ? next.length : 0);
    if (joined && continues(joined, next)) joined = { ...joined, length: joined.length + next.length };
    else {
      if (joined) yield joined;
      joined = next;
    }
  }
  if (joined) yield joined;
}
