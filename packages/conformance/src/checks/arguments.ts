import { failsWith, refusesArguments } from '../expect.ts';
import type { Check } from '../types.ts';

/** What is no count of bytes. */
const nonsense: readonly unknown[] = [
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  0n,
  '0',
  null,
  undefined,
];
const notMemory: readonly unknown[] = [
  'text',
  8n,
  {},
  new Uint16Array(4),
  new ArrayBuffer(8),
  [new Uint8Array(1), 'text'],
];

const show = (value: unknown): string =>
  typeof value === 'bigint' ? `${value}n` : value instanceof Object ? value.constructor.name : String(value);

export const misuse: Check[] = [
  {
    name: 'arguments/read',
    about: 'reads with impossible offsets, lengths and memory are refused as misuse',
    requires: [],
    async run(bench) {
      const { disk } = bench;
      const read = disk.read.bind(disk) as (offset: unknown, what: unknown) => Promise<unknown>;
      for (const value of nonsense) {
        await refusesArguments(() => read(value, 0), `read at ${show(value)}`);
        await refusesArguments(() => read(value, new Uint8Array(1)), `read into memory at ${show(value)}`);
        await refusesArguments(() => read(0, value), `read of ${show(value)} bytes`);
      }
      for (const value of notMemory) await refusesArguments(() => read(0, value), `read into ${show(value)}`);
      await bench.verify('after misuse');
    },
  },
  {
    name: 'arguments/block-status',
    about: 'block status with impossible ranges is refused as misuse, also for no bytes',
    requires: [],
    async run({ disk }) {
      const status = disk.blockStatus.bind(disk) as (offset: unknown, length: unknown) => Promise<unknown>;
      for (const value of [...nonsense]) {
        await refusesArguments(() => status(value, 1), `blockStatus at ${show(value)}`);
        await refusesArguments(() => status(0, value), `blockStatus of ${show(value)} bytes`);
      }
      await refusesArguments(() => status(0, 0), 'blockStatus of 0 bytes');
    },
  },
  {
    name: 'arguments/write',
    about: 'changes with impossible ranges and memory are refused as misuse, and change nothing',
    requires: ['write'],
    async run(bench) {
      await bench.fill();
      const { disk } = bench;
      const any = disk as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      for (const value of nonsense) {
        await refusesArguments(() => any.write?.(value, new Uint8Array(1)), `write at ${show(value)}`);
        for (const op of ['writeZeroes', 'discard']) {
          await refusesArguments(() => any[op]?.(value, 0), `${op} at ${show(value)}`);
          await refusesArguments(() => any[op]?.(0, value), `${op} of ${show(value)} bytes`);
        }
        await refusesArguments(() => any.truncate?.(value), `truncate to ${show(value)}`);
      }
      for (const value of notMemory)
        await refusesArguments(() => any.write?.(0, value), `write of ${show(value)}`);
      await bench.verify('after misuse');
    },
  },
  {
    name: 'arguments/out-of-bounds',
    about: 'requests that end beyond the disk fail with ERR_OUT_OF_BOUNDS and change nothing',
    requires: [],
    async run(bench) {
      await bench.fill();
      const { disk, size } = bench;
      const beyond = [
        [size, 1],
        [Math.max(0, size - 1), 2],
        [0, size + 1],
        [size + 1, 0],
        [Number.MAX_SAFE_INTEGER, 1],
      ] as const;
      for (const [offset, length] of beyond) {
        const where = `of ${length} bytes at ${offset}`;
        await failsWith(() => disk.read(offset, length), 'ERR_OUT_OF_BOUNDS', `read ${where}`);
        if (length > 0)
          await failsWith(
            () => disk.blockStatus(offset, length),
            'ERR_OUT_OF_BOUNDS',
            `blockStatus ${where}`,
          );
        if (length > 2 ** 27) continue;
        await failsWith(
          () => disk.read(offset, new Uint8Array(length)),
          'ERR_OUT_OF_BOUNDS',
          `read into memory ${where}`,
        );
        if (!bench.writable) continue;
        await failsWith(
          () => disk.write(offset, new Uint8Array(length)),
          'ERR_OUT_OF_BOUNDS',
          `write ${where}`,
        );
        await failsWith(() => disk.writeZeroes(offset, length), 'ERR_OUT_OF_BOUNDS', `writeZeroes ${where}`);
        await failsWith(() => disk.discard(offset, length), 'ERR_OUT_OF_BOUNDS', `discard ${where}`);
      }
      await bench.verify('after requests beyond the end');
    },
  },
];
