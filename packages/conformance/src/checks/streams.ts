import { equal, failsWith, sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

export const streams: Check[] = [
  {
    name: 'streams/readable',
    about: 'a stream gives the bytes of the disk or of a range, in order',
    requires: [],
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      sameBytes(await collect(disk.readable()), model, 0, 'a stream of the disk');
      const [start, end] = [Math.floor(size / 3), Math.ceil((2 * size) / 3)];
      sameBytes(
        await collect(disk.readable({ start, end })),
        model.subarray(start, end),
        start,
        'a stream of a range',
      );
    },
  },
  {
    name: 'streams/cancelled',
    about: 'a stream can be left early',
    requires: [],
    async run({ disk, size }) {
      const reader = disk.readable().getReader();
      await reader.read();
      await reader.cancel();
      equal((await disk.read(0, Math.min(size, 10))).length, Math.min(size, 10), 'a read after it');
    },
  },
  {
    name: 'streams/writable',
    about: 'a stream writes its chunks one after the other, and flushes before it closes',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      const start = Math.floor(size / 5);
      const writer = disk.writable({ start }).getWriter();
      for (let at = start; at < size; ) {
        const chunk = random.bytes(Math.min(size - at, 1 + random.below(30_000)));
        await writer.write(chunk);
        model.set(chunk, at);
        at += chunk.length;
      }
      const { flushes } = disk.stats;
      await writer.close();
      equal(disk.stats.flushes, flushes + 1, 'stats.flushes after close');
      await bench.verify('after the stream');
    },
  },
  {
    name: 'streams/writable-too-long',
    about: 'a stream of more bytes than its range fails with ERR_OUT_OF_BOUNDS',
    requires: ['write', 'store'],
    minSize: 2,
    async run(bench) {
      await bench.fill();
      const end = Math.floor(bench.size / 2);
      const writer = bench.disk.writable({ start: 0, end }).getWriter();
      writer.closed.catch(() => {});
      await failsWith(
        () => writer.write(new Uint8Array(end + 1)),
        'ERR_OUT_OF_BOUNDS',
        'a chunk that is too long',
      );
      await bench.verify('after it');
    },
  },
];
