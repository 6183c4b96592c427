import { byteLength, flatten } from '@blockyard/iov-utils';
import { soon } from '../bench/bench.ts';
import { cut, ranges, some } from '../bench/ranges.ts';
import { ensure, equal, sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';

const guard = 0xa5;

export const reading: Check[] = [
  {
    name: 'read/alignments',
    about: 'reads that begin and end anywhere give the bytes of the disk',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment), 120)) {
        const bytes = await disk.read(offset, length);
        sameBytes(
          bytes,
          model.subarray(offset, offset + length),
          offset,
          `read of ${length} bytes at ${offset}`,
        );
      }
    },
  },
  {
    name: 'read/whole',
    about: 'one read of the whole disk',
    requires: [],
    async run(bench) {
      await bench.fill();
      const bytes = await bench.disk.read(0, bench.size);
      sameBytes(bytes, bench.model, 0, 'read of everything');
    },
  },
  {
    name: 'read/into-memory',
    about: "a read fills the caller's memory, at any address, and nothing around it",
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      for (const shift of [0, 1, 3, 8, 511, 512]) {
        for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment, 70_000), 12)) {
          const memory = new Uint8Array(shift + length + 600).fill(guard);
          const into = memory.subarray(shift, shift + length);
          const result = await disk.read(offset, into);
          ensure(result === into, 'read into memory: must resolve to that memory');
          const what = `read of ${length} bytes at ${offset} into memory shifted by ${shift}`;
          sameBytes(into, model.subarray(offset, offset + length), offset, what);
          ensure(
            memory.subarray(0, shift).every((byte) => byte === guard),
            `${what}: wrote before the memory`,
          );
          ensure(
            memory.subarray(shift + length).every((byte) => byte === guard),
            `${what}: wrote behind the memory`,
          );
        }
      }
    },
  },
  {
    name: 'read/vectors',
    about: 'a read scatters into several buffers, also empty and tiny ones',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment, 70_000), 16)) {
        for (const sizes of [
          [],
          [1],
          [0, 512],
          [1, 0, 2, 509],
          [4096, 4096],
          Array.from({ length: 60 }, () => 17),
        ]) {
          const memory = new Uint8Array(length).fill(guard);
          await disk.read(offset, cut(memory, ...sizes));
          sameBytes(
            memory,
            model.subarray(offset, offset + length),
            offset,
            `read of ${length} bytes at ${offset} into a vector`,
          );
        }
      }
    },
  },
  {
    name: 'read/many-buffers',
    about: 'a vector of more buffers than any system call takes',
    requires: [],
    minSize: 4096,
    async run(bench) {
      await bench.fill();
      const { disk, model } = bench;
      const vector = Array.from({ length: 2048 }, () => new Uint8Array(2));
      await disk.read(0, vector);
      sameBytes(flatten(vector), model.subarray(0, byteLength(vector)), 0, 'read into 2048 buffers');
    },
  },
  {
    name: 'read/zero-length',
    about: 'reads of no bytes succeed anywhere on the disk, also at its end',
    requires: [],
    async run({ disk, size }) {
      for (const offset of [0, Math.floor(size / 2), size]) {
        equal((await disk.read(offset, 0)).length, 0, `read of 0 bytes at ${offset}`);
        await disk.read(offset, new Uint8Array(0));
        await disk.read(offset, []);
        await disk.read(offset, [new Uint8Array(0), new Uint8Array(0)]);
      }
    },
  },
  {
    name: 'read/settled',
    about: 'when a read settles all bytes are there, and its memory is not touched any more',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment), 24)) {
        const into = new Uint8Array(length).fill(guard);
        await disk.read(offset, into);
        const what = `read of ${length} bytes at ${offset}`;
        sameBytes(into, model.subarray(offset, offset + length), offset, `${what}, when it settled`);
        into.fill(guard);
        await soon();
        ensure(
          into.every((byte) => byte === guard),
          `${what}: its memory was written after it settled`,
        );
      }
    },
  },
  {
    name: 'read/own-memory',
    about: 'reads without memory give each caller bytes of its own',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      const length = Math.min(size, 8192);
      const [first, second] = [await disk.read(0, length), await disk.read(0, length)];
      first.fill(guard);
      sameBytes(
        second,
        model.subarray(0, length),
        0,
        'a second read, after the memory of the first was changed',
      );
      sameBytes(await disk.read(0, length), model.subarray(0, length), 0, 'a third read');
    },
  },
  {
    name: 'read/concurrent',
    about: 'many reads at once, overlapping, each get their own bytes',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size, random } = bench;
      for (let round = 0; round < 4; round++) {
        await Promise.all(
          Array.from({ length: 48 }, async () => {
            const offset = random.below(size);
            const length = 1 + random.below(Math.min(size - offset, 40_000));
            const bytes = await disk.read(offset, length);
            sameBytes(
              bytes,
              model.subarray(offset, offset + length),
              offset,
              `one of 48 reads, ${length} bytes at ${offset}`,
            );
          }),
        );
      }
    },
  },
  {
    name: 'read/repeatable',
    about: 'reading changes nothing',
    requires: [],
    async run(bench) {
      await bench.fill();
      await bench.verify('first time');
      await bench.verify('second time');
    },
  },
];
