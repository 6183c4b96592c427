import type { Bench } from '../bench/bench.ts';
import { equal, failsWith } from '../expect.ts';
import type { Check } from '../types.ts';

async function detects(bench: Bench): Promise<void> {
  await bench.fill();
  const { disk, random, size } = bench;
  const length = Math.min(size, 65_536);
  await bench.write(0, new Uint8Array(length));
  equal(
    disk.stats.detectedZeroes,
    bench.capabilities.writeZeroes ? 1 : 0,
    'stats.detectedZeroes after a write of zeroes',
  );
  await bench.verify('after a write of zeroes');
  const almost = new Uint8Array(length);
  almost[length - 1] = 1;
  await bench.write(0, almost);
  await bench.write(0, random.bytes(length));
  equal(
    disk.stats.detectedZeroes,
    bench.capabilities.writeZeroes ? 1 : 0,
    'stats.detectedZeroes after writes of other bytes',
  );
  await disk.write(0, [new Uint8Array(1), new Uint8Array(length - 1)]);
  bench.model.fill(0, 0, length);
  equal(
    disk.stats.detectedZeroes,
    bench.capabilities.writeZeroes ? 2 : 0,
    'stats.detectedZeroes after a vector of zeroes',
  );
  await bench.verify('after all');
}

export const detectZeroes: Check[] = [
  {
    name: 'detect-zeroes/off',
    about: "'off' writes zero bytes as they are",
    requires: ['write', 'store'],
    minSize: 1,
    open: { detectZeroes: 'off' },
    async run(bench) {
      await bench.fill();
      await bench.write(0, new Uint8Array(Math.min(bench.size, 65_536)));
      equal(bench.disk.stats.detectedZeroes, 0, 'stats.detectedZeroes');
      await bench.verify('after a write of zeroes');
    },
  },
  {
    name: 'detect-zeroes/on',
    about: "'on' turns writes of zeroes, and only those, into write-zeroes",
    requires: ['write', 'store'],
    minSize: 2,
    open: { detectZeroes: 'on' },
    run: detects,
  },
  {
    name: 'detect-zeroes/unmap',
    about: "'unmap' does the same, allowed to deallocate",
    requires: ['write', 'store'],
    minSize: 2,
    open: { detectZeroes: 'unmap', discard: 'unmap' },
    run: detects,
  },
  {
    name: 'detect-zeroes/unmap-alone',
    about: "'unmap' without discard: unmap is refused",
    requires: ['write'],
    async run(bench) {
      await bench.disk.close();
      const options = bench.tree({ discard: 'ignore', detectZeroes: 'unmap' });
      await failsWith(() => bench.open(options), 'ERR_DETECT_ZEROES', 'open with detectZeroes: unmap alone');
    },
  },
];
