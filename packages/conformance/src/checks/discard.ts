import type { CommonOptions } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { ranges, some } from '../bench/ranges.ts';
import { equal, sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';

const unmap: CommonOptions = { discard: 'unmap' };

/** What a discarded range reads as is not said, but that it stays the same. */
async function settle(bench: Bench, offset: number, length: number): Promise<void> {
  const found = await bench.disk.read(offset, length);
  sameBytes(await bench.disk.read(offset, length), found, offset, `a discarded range read twice`);
  bench.model.set(found, offset);
}

export const discarding: Check[] = [
  {
    name: 'discard/ranges',
    about: 'a discard leaves everything outside its range alone',
    requires: ['write', 'store'],
    minSize: 1,
    open: unmap,
    async run(bench) {
      const { disk, size } = bench;
      for (const { offset, length } of [
        ...some(ranges(size, disk.limits.requestAlignment), 20),
        { offset: 0, length: size },
      ]) {
        await bench.fill();
        await disk.discard(offset, length);
        await settle(bench, offset, length);
        await bench.verify(`after a discard of ${length} bytes at ${offset}`);
      }
    },
  },
  {
    name: 'discard/ignored',
    about: 'a discard does nothing where the disk was not opened with discard: unmap',
    requires: ['write', 'store'],
    minSize: 1,
    open: { discard: 'ignore' },
    async run(bench) {
      await bench.fill();
      await bench.disk.discard(0, bench.size);
      await bench.verify('after an ignored discard');
      equal(bench.node.stats.discards, 0, 'stats.discards');
    },
  },
  {
    name: 'discard/then-write',
    about: 'a discarded range takes new bytes',
    requires: ['write', 'store'],
    minSize: 1,
    open: unmap,
    async run(bench) {
      await bench.fill();
      const { disk, random, size } = bench;
      await disk.discard(0, size);
      await settle(bench, 0, size);
      for (let i = 0; i < 10; i++) {
        const offset = random.below(size);
        await bench.write(offset, random.bytes(1 + random.below(Math.min(size - offset, 5000))));
      }
      await bench.verify('after writes into a discarded range');
    },
  },
  {
    name: 'discard/whole-blocks',
    about: 'whole blocks reach the driver of a node that supports discard',
    requires: ['write', 'discard'],
    minSize: 1,
    open: unmap,
    async run({ disk, node, size }) {
      await disk.discard(0, size);
      equal(node.stats.discards, 1, 'stats.discards');
      equal(node.stats.discardBytes, size, 'stats.discardBytes');
    },
  },
];
