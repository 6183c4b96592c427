import type { Measure } from '../pairs.ts';

export interface LoopOptions {
  seconds: number;
  depth: number;
}

/** Keeps `depth` requests in flight for the time, and counts those that finish after a short ramp. */
export async function loop(
  options: LoopOptions,
  request: (lane: number) => Promise<unknown>,
): Promise<Measure> {
  const ramp = 0.25;
  const start = performance.now();
  const countFrom = start + ramp * 1000;
  const end = countFrom + options.seconds * 1000;
  let counted = 0;
  let cpu = process.cpuUsage();
  let counting = false;
  const lane = async (index: number) => {
    for (;;) {
      await request(index);
      const now = performance.now();
      if (now >= end) return;
      if (counting) counted++;
      else if (now >= countFrom) {
        counting = true;
        cpu = process.cpuUsage();
      }
    }
  };
  await Promise.all(Array.from({ length: options.depth }, (_, index) => lane(index)));
  const { user } = process.cpuUsage(cpu);
  return { value: counted / ((performance.now() - countFrom) / 1000), userMicros: user / counted };
}

/** Offsets that are spread over the file, and cheap to make. */
export function randomOffsets(size: number, block: number): () => number {
  const blocks = Math.floor(size / block);
  return () => Math.floor(Math.random() * blocks) * block;
}

export function sequentialOffsets(size: number, block: number): () => number {
  const blocks = Math.floor(size / block);
  let next = 0;
  return () => (next++ % blocks) * block;
}
