import type { CommonOptions, ZeroOptions } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { ranges, some } from '../bench/ranges.ts';
import { ensure, equal, failure } from '../expect.ts';
import type { Check } from '../types.ts';

async function zeroRanges(bench: Bench, options: ZeroOptions, count: number): Promise<void> {
  const { disk, model, size } = bench;
  await bench.fill();
  const picked = some(ranges(size, disk.limits.requestAlignment), count);
  for (const { offset, length } of [...picked, { offset: 0, length: size }]) {
    await disk.writeZeroes(offset, length, options);
    model.fill(0, offset, offset + length);
    const what = `after writeZeroes of ${length} bytes at ${offset}`;
    await bench.verify(what, Math.max(0, offset - 8192), Math.min(size, offset + length + 8192));
    if (length > size / 2) await bench.fill();
  }
  await bench.verify('after all');
}

const flags = (what: string, about: string, options: ZeroOptions, open: CommonOptions = {}): Check => ({
  name: `zeroes/${what}`,
  about,
  requires: ['write', 'store'],
  minSize: 1,
  open,
  run: (bench) => zeroRanges(bench, options, 20),
});

export const zeroes: Check[] = [
  flags('plain', 'write-zeroes makes its range zero and changes nothing else', {}),
  flags('may-unmap', 'the same, allowed to deallocate', { mayUnmap: true }, { discard: 'unmap' }),
  flags('may-unmap-ignored', 'the same where the disk was not opened with discard: unmap', {
    mayUnmap: true,
  }),
  flags('fua', 'the same, on stable storage at once', { fua: true }),
  {
    name: 'zeroes/no-fallback',
    about: 'noFallback makes zeroes or fails with ERR_NOT_SUPPORTED, and never counts a fallback',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, node, model, size } = bench;
      const fallbacks = disk.stats.zeroFallbacks + node.stats.zeroFallbacks;
      for (const { offset, length } of [
        ...some(ranges(size, disk.limits.requestAlignment), 12),
        { offset: 0, length: size },
      ]) {
        try {
          await disk.writeZeroes(offset, length, { noFallback: true });
          model.fill(0, offset, offset + length);
        } catch (error) {
          const { code } = error as { code?: string };
          ensure(
            code === 'ERR_NOT_SUPPORTED' || code === 'ENOTSUP' || code === 'EOPNOTSUPP',
            `writeZeroes with noFallback: ${error}`,
          );
          // Part of it may have been done.
          await bench.disk.write(offset, model.subarray(offset, offset + length));
        }
        await bench.verify(`after writeZeroes of ${length} bytes at ${offset} with noFallback`);
      }
      equal(disk.stats.zeroFallbacks + node.stats.zeroFallbacks, fallbacks, 'stats.zeroFallbacks');
    },
  },
  {
    name: 'zeroes/no-fallback-unsupported',
    about: 'noFallback fails with ERR_NOT_SUPPORTED where the driver has no write-zeroes of its own',
    requires: ['write', 'store'],
    unless: 'writeZeroes',
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const error = await failure(
        () => bench.disk.writeZeroes(0, bench.size, { noFallback: true }),
        'writeZeroes with noFallback',
      );
      equal(error.code, 'ERR_NOT_SUPPORTED', 'writeZeroes with noFallback: code');
      await bench.verify('after it');
    },
  },
  {
    name: 'zeroes/then-write',
    about: 'bytes written into a zeroed range lie among zeroes',
    requires: ['write', 'store'],
    minSize: 4096,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      await disk.writeZeroes(0, size);
      model.fill(0);
      for (let i = 0; i < 10; i++)
        await bench.write(random.below(size - 300), random.bytes(1 + random.below(300)));
      await bench.verify('after writes into zeroes');
    },
  },
];
