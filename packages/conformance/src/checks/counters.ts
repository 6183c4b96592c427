import { alignDown } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { equal } from '../expect.ts';
import type { Check } from '../types.ts';

/** A length that neither the disk nor the node below has to cut, pad or copy. */
function aligned({ disk, node, size }: Bench): { block: number; length: number } {
  const limits = [disk.limits, node.limits];
  const block = Math.max(
    ...limits.flatMap(({ requestAlignment, minMemAlignment }) => [requestAlignment, minMemAlignment]),
  );
  const most = limits.flatMap(({ maxTransfer, maxHwTransfer }) => [
    maxTransfer || size,
    maxHwTransfer || size,
  ]);
  return { block, length: alignDown(Math.min(size, 1 << 20, ...most), block) };
}

export const counters: Check[] = [
  {
    name: 'counters/requests',
    about: 'requests and their bytes are counted once',
    requires: [],
    minSize: 1,
    async run({ disk, size }) {
      const length = Math.min(size, 5000);
      for (let i = 0; i < 3; i++) await disk.read(size - length, length);
      await disk.read(0, 0);
      await disk.flush();
      await disk.blockStatus(0, length);
      const { stats } = disk;
      equal(stats.reads, 3, 'stats.reads');
      equal(stats.readBytes, 3 * length, 'stats.readBytes');
      equal(stats.flushes, 1, 'stats.flushes');
      equal(stats.blockStatuses, 1, 'stats.blockStatuses');
      equal(stats.failed, 0, 'stats.failed');
    },
  },
  {
    name: 'counters/changes',
    about: 'changes and their bytes are counted once',
    requires: ['write'],
    minSize: 1,
    open: { discard: 'unmap' },
    async run({ disk, size, capabilities, random }) {
      const length = Math.min(size, 5000);
      for (let i = 0; i < 3; i++) await disk.write(size - length, random.bytes(length));
      await disk.writeZeroes(0, length);
      await disk.discard(0, size);
      const { stats } = disk;
      equal(stats.writes, 3, 'stats.writes');
      equal(stats.writeBytes, 3 * length, 'stats.writeBytes');
      equal(stats.writeZeroes, 1, 'stats.writeZeroes');
      equal(stats.writeZeroesBytes, length, 'stats.writeZeroesBytes');
      equal(stats.discards, capabilities.discard ? 1 : 0, 'stats.discards');
    },
  },
  {
    name: 'counters/aligned-no-copy',
    about: 'aligned requests in memory of the disk are not copied, padded or split',
    requires: [],
    async run(bench) {
      const { disk, node, size, random } = bench;
      const { block, length } = aligned(bench);
      bench.needs(length > 0, 'it needs a disk of one aligned block');
      const memory = disk.allocate(length);
      await disk.read(0, memory);
      await disk.read(size - length - (size % block), memory);
      if (bench.writable) {
        memory.set(random.bytes(length));
        await disk.write(0, memory);
      }
      disk.release(memory);
      for (const { stats, driver } of new Set([disk.node, node])) {
        for (const name of ['bounces', 'bouncedBytes', 'padded', 'splits'] as const)
          equal(stats[name], 0, `${driver}: stats.${name}`);
      }
    },
  },
  {
    name: 'counters/own-memory-no-copy',
    about: 'reads without memory use memory that needs no copy',
    requires: [],
    async run(bench) {
      const { disk, node } = bench;
      const { length } = aligned(bench);
      bench.needs(length > 0, 'it needs a disk of one aligned block');
      await disk.read(0, length);
      equal(disk.stats.bounces + node.stats.bounces, 0, 'stats.bounces');
    },
  },
];
