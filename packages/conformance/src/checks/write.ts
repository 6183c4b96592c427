import { cut, ranges, some } from '../bench/ranges.ts';
import { sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';

export const writing: Check[] = [
  {
    name: 'write/whole',
    about: 'the whole disk written and read back',
    requires: ['write', 'store'],
    async run(bench) {
      await bench.fill();
      await bench.verify('after writing everything');
    },
  },
  {
    name: 'write/alignments',
    about: 'writes that begin and end anywhere change their bytes and no others',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, random, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment), 60)) {
        await bench.write(offset, random.bytes(length));
        const what = `after a write of ${length} bytes at ${offset}`;
        await bench.verify(what, Math.max(0, offset - 8192), Math.min(size, offset + length + 8192));
      }
      await bench.verify('after all writes');
    },
  },
  {
    name: 'write/onto-nothing',
    about: 'small writes far apart on a fresh disk leave everything between as it was',
    requires: ['write', 'store'],
    minSize: 4096,
    async run(bench) {
      const { random, size } = bench;
      for (let i = 0; i < 12; i++) {
        const offset = Math.floor(((size - 700) * i) / 12) + random.below(600);
        await bench.write(offset, random.bytes(1 + random.below(100)));
      }
      await bench.verify('after small writes');
    },
  },
  {
    name: 'write/vectors',
    about: 'a write gathers from several buffers, also empty and tiny ones',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment, 70_000), 12)) {
        for (const sizes of [
          [1],
          [0, 512],
          [1, 0, 2, 509],
          [4096, 4096],
          Array.from({ length: 1500 }, () => 3),
        ]) {
          const data = random.bytes(length);
          await disk.write(offset, cut(data, ...sizes));
          model.set(data, offset);
        }
        await bench.verify(
          `after writes of vectors of ${length} bytes at ${offset}`,
          offset,
          offset + length,
        );
      }
      await bench.verify('after all vectors');
    },
  },
  {
    name: 'write/memory-addresses',
    about: 'the memory of a write may lie at any address',
    requires: ['write', 'store'],
    minSize: 4096,
    async run(bench) {
      const { random, model, disk } = bench;
      for (const shift of [0, 1, 3, 8, 511, 512, 4095]) {
        const data = random.bytes(shift + 4096).subarray(shift);
        await disk.write(0, data);
        model.set(data, 0);
        await bench.verify(`after a write from memory shifted by ${shift}`, 0, 4096);
      }
    },
  },
  {
    name: 'write/source-untouched',
    about: "a write does not change the caller's memory, and does not need it once it has settled",
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      const { disk, model, random, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment, 70_000), 16)) {
        const original = random.bytes(length);
        const given = original.slice();
        await disk.write(offset, given);
        sameBytes(given, original, offset, `the memory of a write of ${length} bytes at ${offset}`);
        // The caller uses its memory for something else.
        given.fill(0);
        model.set(original, offset);
        await bench.verify(`after its memory was used again`, offset, offset + length);
      }
    },
  },
  {
    name: 'write/zero-length',
    about: 'writes, write-zeroes and discards of no bytes succeed and change nothing',
    requires: ['write', 'store'],
    async run(bench) {
      await bench.fill();
      const { disk, size } = bench;
      for (const offset of [0, Math.floor(size / 2), size]) {
        await disk.write(offset, new Uint8Array(0));
        await disk.write(offset, []);
        await disk.write(offset, [new Uint8Array(0)]);
        await disk.writeZeroes(offset, 0);
        await disk.discard(offset, 0);
      }
      await bench.verify('after requests of no bytes');
    },
  },
  {
    name: 'write/zero-bytes',
    about: 'zero bytes written over others read as zeroes',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { size } = bench;
      await bench.write(Math.floor(size / 3), new Uint8Array(Math.ceil(size / 4)));
      await bench.verify('after writing zero bytes');
    },
  },
];
