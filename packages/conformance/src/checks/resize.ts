import type { Bench } from '../bench/bench.ts';
import { equal, failsWith } from '../expect.ts';
import type { Check } from '../types.ts';

function resizeModel(bench: Bench, size: number): void {
  const model = new Uint8Array(size);
  model.set(bench.model.subarray(0, size));
  bench.model = model;
}

async function resize(bench: Bench, size: number): Promise<void> {
  await bench.disk.truncate(size, { shrink: true });
  resizeModel(bench, size);
  await bench.verify(`after truncate to ${size} bytes`);
}

export const resizing: Check[] = [
  {
    name: 'resize/grow',
    about: 'a grown disk keeps its bytes, and the new ones are zero',
    requires: ['write', 'store', 'resize'],
    async run(bench) {
      await bench.fill();
      const grown = bench.size + 131_072;
      await bench.disk.truncate(grown);
      resizeModel(bench, grown);
      await bench.verify('after growing');
      await bench.write(grown - 700, bench.random.bytes(700));
      await bench.verify('after a write at the new end');
    },
  },
  {
    name: 'resize/shrink',
    about: 'a shrunk disk keeps the bytes that are left, and what was cut off does not come back',
    requires: ['write', 'store', 'resize'],
    minSize: 8192,
    async run(bench) {
      await bench.fill();
      const { size } = bench;
      const half = Math.floor(size / 2) - (Math.floor(size / 2) % 4096);
      await resize(bench, half);
      await failsWith(() => bench.disk.read(half, 1), 'ERR_OUT_OF_BOUNDS', 'read beyond the new end');
      await resize(bench, size);
    },
  },
  {
    name: 'resize/shrink-unsaid',
    about: 'shrinking without shrink: true is refused',
    requires: ['write', 'store', 'resize'],
    minSize: 4096,
    async run(bench) {
      await bench.fill();
      await failsWith(
        () => bench.disk.truncate(bench.size - 4096),
        'ERR_INVALID_OPTION',
        'truncate to less, without shrink',
      );
      await bench.verify('after a refused truncate');
    },
  },
  {
    name: 'resize/any-size',
    about: 'a disk may have any number of bytes, and keeps it',
    requires: ['write', 'store', 'resize'],
    minSize: 4096,
    async run(bench) {
      await bench.fill();
      for (const size of [bench.size + 1, bench.size + 513, bench.size + 70_001, 1001, 1, 777]) {
        await resize(bench, size);
        await bench.write(size - 1, bench.random.bytes(1));
        await bench.verify(`after a write of the last of ${size} bytes`);
      }
    },
  },
  {
    name: 'resize/to-nothing',
    about: 'a disk of no bytes can be read, and grows again',
    requires: ['write', 'store', 'resize'],
    async run(bench) {
      await bench.fill();
      const { size } = bench;
      await resize(bench, 0);
      equal((await bench.disk.read(0, 0)).length, 0, 'read of 0 bytes');
      await resize(bench, size);
    },
  },
  {
    name: 'resize/persists',
    about: 'a new size is there when the disk is opened again',
    requires: ['write', 'store', 'resize', 'persist'],
    async run(bench) {
      await bench.fill();
      await resize(bench, bench.size + 4097);
      await bench.disk.close();
      bench.disk = await bench.open();
      await bench.verify('after opening again');
    },
  },
  {
    name: 'resize/unsupported',
    about: 'a driver that cannot resize says so',
    requires: ['write'],
    unless: 'resize',
    async run(bench) {
      await failsWith(() => bench.disk.truncate(bench.size + 4096), 'ERR_NOT_SUPPORTED', 'truncate');
      equal(bench.disk.size, bench.size, 'size after a refused truncate');
    },
  },
];
