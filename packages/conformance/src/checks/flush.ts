import { watch } from '../bench/watch.ts';
import { ensure, equal } from '../expect.ts';
import type { Check } from '../types.ts';

export const flushing: Check[] = [
  {
    name: 'flush/idle',
    about: 'flush succeeds on a disk that nothing was written to, again and again',
    requires: [],
    async run(bench) {
      await bench.disk.flush();
      await Promise.all([bench.disk.flush(), bench.disk.flush(), bench.disk.flush()]);
      equal(bench.disk.stats.flushes, 4, 'stats.flushes');
    },
  },
  {
    name: 'flush/among-writes',
    about: 'flushes among writes change nothing and lose nothing',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, random, size } = bench;
      const flushes: Promise<void>[] = [];
      for (let i = 0; i < 24; i++) {
        const offset = random.below(size);
        await bench.write(offset, random.bytes(1 + random.below(Math.min(size - offset, 5000))));
        flushes.push(disk.flush());
      }
      await Promise.all(flushes);
      await bench.verify('after writes and flushes');
    },
  },
  {
    name: 'flush/fua',
    about: 'a write with fua reaches the driver as such, or is followed by a flush before it settles',
    requires: ['write'],
    minSize: 1,
    async run(bench) {
      const calls = watch(bench.node);
      const { disk, node, random, size } = bench;
      const settled = (op: string) => {
        const last = calls.findLastIndex((call) => call.op === op || call.op === 'write');
        ensure(last >= 0, `${op} with fua: nothing was written`);
        const kept = node.supports.fua
          ? calls.every((call) => call.fua || call.op === 'read')
          : calls.slice(last).some((call) => call.op === 'flush');
        ensure(kept, `${op} with fua settled before it was on stable storage`);
        calls.length = 0;
      };
      const data = random.bytes(Math.min(size, 10_000));
      await disk.write(0, data, { fua: true });
      settled('write');
      await disk.write(size - 1, random.bytes(1), { fua: true });
      settled('write');
      await disk.writeZeroes(0, size, { fua: true });
      settled('writeZeroes');
    },
  },
  {
    name: 'flush/on-close',
    about: 'closing a disk that was written to flushes it',
    requires: ['write'],
    minSize: 1,
    async run(bench) {
      const calls = watch(bench.node);
      await bench.disk.write(0, bench.random.bytes(1));
      calls.length = 0;
      await bench.disk.close();
      ensure(
        calls.some((call) => call.op === 'flush'),
        'close: the driver was not asked to flush',
      );
    },
  },
];
