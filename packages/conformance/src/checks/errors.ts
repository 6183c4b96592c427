import { BlockError } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { ensure, equal, failure } from '../expect.ts';
import type { Check } from '../types.ts';

async function describes(
  bench: Bench,
  op: string,
  request: () => unknown,
  offset: number,
  length: number,
): Promise<void> {
  const error = await failure(request, op);
  ensure(error instanceof BlockError, `${op}: the error must be a BlockError, but is ${error.name}`);
  equal(error.code, 'ERR_OUT_OF_BOUNDS', `${op}: code`);
  equal(error.kind, 'usage', `${op}: kind`);
  equal(error.op, op, `${op}: op`);
  equal(error.offset, offset, `${op}: offset`);
  equal(error.length, length, `${op}: length`);
  equal(error.driver, bench.disk.node.driver, `${op}: driver`);
  equal(error.node, bench.disk.node.name, `${op}: node`);
  ensure(error.message.includes(op), `${op}: the message must say what was done: ${error.message}`);
}

export const errors: Check[] = [
  {
    name: 'errors/describe',
    about: 'errors are BlockErrors that say what was done, where, and to what',
    requires: [],
    async run(bench) {
      const { disk, size } = bench;
      await describes(bench, 'read', () => disk.read(size, new Uint8Array(7)), size, 7);
      await describes(bench, 'blockStatus', () => disk.blockStatus(size, 7), size, 7);
    },
  },
  {
    name: 'errors/describe-changes',
    about: 'the same for changes',
    requires: ['write'],
    async run(bench) {
      const { disk, size } = bench;
      await describes(bench, 'write', () => disk.write(size, new Uint8Array(7)), size, 7);
      await describes(bench, 'writeZeroes', () => disk.writeZeroes(size, 7), size, 7);
      await describes(bench, 'discard', () => disk.discard(size, 7), size, 7);
    },
  },
  {
    name: 'errors/promises',
    about: 'methods of a disk reject, and do not throw',
    requires: [],
    async run(bench) {
      const { disk, size } = bench;
      const requests: (() => Promise<unknown>)[] = [
        () => disk.read(size + 1, 1),
        () => disk.read(-1, new Uint8Array(1)),
        () => disk.blockStatus(-1, 1),
      ];
      if (bench.writable) {
        requests.push(
          () => disk.write(size + 1, new Uint8Array(1)),
          () => disk.writeZeroes(-1, 1),
          () => disk.discard(-1, 1),
        );
      }
      for (const request of requests) {
        let promise: Promise<unknown>;
        try {
          promise = request();
        } catch (error) {
          ensure(false, `${request}: threw ${error} instead of rejecting`);
        }
        await failure(() => promise, String(request));
      }
    },
  },
  {
    name: 'errors/disk-works-on',
    about: 'a failed request leaves the disk as it was',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, size } = bench;
      for (let i = 0; i < 5; i++)
        await failure(() => disk.read(size, new Uint8Array(1)), 'read beyond the end');
      await bench.verify('after failed requests');
    },
  },
];
