import { ensure, sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';

export const concurrent: Check[] = [
  {
    name: 'concurrent/neighbours',
    about: 'writes at once into the same blocks, not overlapping, are all kept',
    requires: ['write', 'store'],
    minSize: 8192,
    async run(bench) {
      await bench.fill();
      const { disk, model, random } = bench;
      for (let round = 0; round < 6; round++) {
        const work: Promise<void>[] = [];
        for (let at = random.below(50); at < 8000; ) {
          const data = random.bytes(Math.min(1 + random.below(700), 8192 - at));
          model.set(data, at);
          work.push(disk.write(at, data));
          at += data.length;
        }
        await Promise.all(work);
        await bench.verify('after neighbouring writes at once', 0, 8192);
      }
    },
  },
  {
    name: 'concurrent/overlapping',
    about: 'of overlapping writes at once, every byte is of one of them',
    requires: ['write', 'store'],
    minSize: 8192,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      const end = Math.min(size, 40_000);
      const allowed = Array.from({ length: end }, () => new Set<number>());
      const work: Promise<void>[] = [];
      for (let i = 1; i <= 24; i++) {
        const offset = random.below(end - 1);
        const length = 1 + random.below(Math.min(end - offset, 20_000));
        for (let at = offset; at < offset + length; at++) allowed[at]?.add(i);
        work.push(disk.write(offset, new Uint8Array(length).fill(i)));
      }
      await Promise.all(work);
      const found = await disk.read(0, end);
      for (const [at, values] of allowed.entries()) {
        const byte = found[at] as number;
        if (values.size === 0) ensure(byte === model[at], `byte ${at}, which no write covers, has changed`);
        else ensure(values.has(byte), `byte ${at} is ${byte}, which none of the writes that cover it wrote`);
      }
      model.set(found);
      await bench.verify('after overlapping writes: it changes no more');
    },
  },
  {
    name: 'concurrent/readers-and-writers',
    about: 'reads during writes elsewhere are not disturbed',
    requires: ['write', 'store'],
    minSize: 65_536,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      const half = Math.floor(size / 2) - (Math.floor(size / 2) % 4096);
      const still = model.slice(0, half);
      const writes = Array.from({ length: 16 }, () => {
        const data = random.bytes(1 + random.below(5000));
        const offset = half + random.below(size - half - data.length);
        return { offset, data };
      });
      // One after the other where they overlap, so that the model knows the outcome.
      const writer = async () => {
        for (const { offset, data } of writes) await bench.write(offset, data);
      };
      const reader = async () => {
        for (let i = 0; i < 40; i++) {
          const offset = random.below(half - 1);
          const length = 1 + random.below(Math.min(half - offset, 9000));
          sameBytes(
            await disk.read(offset, length),
            still.subarray(offset, offset + length),
            offset,
            'a read during writes elsewhere',
          );
        }
      };
      await Promise.all([writer(), reader(), reader()]);
      await bench.verify('after all');
    },
  },
];
