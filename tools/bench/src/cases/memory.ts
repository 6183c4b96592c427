import type { Images } from '../images.ts';
import type { Case } from '../pairs.ts';
import { worker } from '../run.ts';

/** What happens in memory alone: the zero scan, and what the block layer adds to the engine. */
export function memoryCases(images: Images, seconds: number, native: boolean): Case[] {
  const load = { block: 4096, depth: 32, seconds };
  const user = async (work: ReturnType<typeof worker>) => ({ value: (await work).userMicros as number });
  const scan: Case = {
    name: 'zero scan, 64 KiB hot',
    peer: 'Uint8Array loop',
    kind: 'rate',
    unit: 'GB/s',
    bar: native ? 30 : 10,
    ours: () => worker('scan', { seconds: seconds / 2, bytes: 65536 }),
    theirs: () => worker('scan', { seconds: seconds / 2, bytes: 65536, plain: true }),
  };
  if (!native) return [scan];
  const graph = { driver: 'file', filename: images.text, aio: 'io_uring' };
  return [
    scan,
    {
      name: 'user CPU per cached 4 KiB read, QD32',
      peer: 'the bare engine',
      kind: 'added',
      unit: 'µs',
      bar: 0.5,
      ours: () => user(worker('load', { ...load, graph })),
      theirs: () => user(worker('bare-engine', { ...load, filename: images.text })),
    },
  ];
}
