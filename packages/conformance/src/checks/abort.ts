import type { Bench } from '../bench/bench.ts';
import { soon } from '../bench/bench.ts';
import { ensure, equal, failure, sameBytes } from '../expect.ts';
import type { Check } from '../types.ts';
import { changingRequests, readingRequests } from './requests.ts';

class Stop extends Error {
  override readonly name = 'AbortError';
}

/** Starts `work`, aborts it after some turns of the event loop, and tells whether it rejected. */
async function interrupted(
  turns: number,
  what: string,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  const reason = new Stop('enough');
  const controller = new AbortController();
  const done = work(controller.signal).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  for (let i = 0; i < turns; i++) await Promise.resolve();
  controller.abort(reason);
  const failed = await done;
  ensure(
    failed === undefined || failed.error === reason,
    `${what}, aborted: must reject with the reason, but rejected with ${failed?.error}`,
  );
  return failed !== undefined;
}

const turns = [0, 1, 2, 5, 20];

async function refused(bench: Bench, requests: ReturnType<typeof readingRequests>): Promise<void> {
  const reason = new Stop('before');
  const signal = AbortSignal.abort(reason);
  for (const [name, request] of requests) {
    const error = await failure(() => request({ signal }), `${name} with an aborted signal`);
    ensure(
      (error as unknown) === reason,
      `${name} with an aborted signal: must reject with the reason, but rejected with ${error}`,
    );
  }
  equal(bench.disk.size, bench.size, 'size');
}

export const aborting: Check[] = [
  {
    name: 'abort/before',
    about: 'a request with an aborted signal is not started',
    requires: [],
    async run(bench) {
      await refused(bench, readingRequests(bench));
    },
  },
  {
    name: 'abort/before-changes',
    about: 'a change with an aborted signal does not happen',
    requires: ['write', 'store'],
    async run(bench) {
      await bench.fill();
      await refused(bench, changingRequests(bench));
      await bench.verify('after aborted changes');
    },
  },
  {
    name: 'abort/read',
    about: 'an aborted read settles, leaves its memory alone afterwards, and the disk works on',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, size } = bench;
      const length = Math.min(size, 1 << 20);
      for (const wait of turns) {
        const into = new Uint8Array(length);
        await interrupted(wait, 'read', (signal) => disk.read(0, into, { signal }));
        into.fill(0xa5);
        await soon();
        ensure(
          into.every((byte) => byte === 0xa5),
          'the memory of an aborted read was written after it settled',
        );
      }
      await bench.verify('after aborted reads');
    },
  },
  {
    name: 'abort/write',
    about: 'an aborted write changes nothing outside its range, and within it only to its bytes',
    requires: ['write', 'store'],
    minSize: 1024,
    async run(bench) {
      await bench.fill();
      const { disk, model, random, size } = bench;
      for (const wait of turns) {
        const offset = 1 + random.below(300);
        const length = Math.min(size - offset - 1, 1 << 19);
        const data = random.bytes(length);
        const given = data.slice();
        await interrupted(wait, 'write', (signal) => disk.write(offset, given, { signal }));
        given.fill(0);
        await soon();
        const found = await disk.read(offset, length);
        const wrong = found.findIndex((byte, i) => byte !== data[i] && byte !== model[offset + i]);
        ensure(wrong === -1, `after an aborted write, byte ${offset + wrong} is neither old nor new`);
        model.set(found, offset);
        await bench.verify('after an aborted write');
      }
    },
  },
  {
    name: 'abort/one-of-many',
    about: 'aborting one request leaves the others alone',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const { disk, model, size } = bench;
      const length = Math.min(size, 1 << 16);
      const controller = new AbortController();
      const aborted = disk.read(0, new Uint8Array(length), { signal: controller.signal }).catch(() => {});
      const others = Array.from({ length: 6 }, () =>
        disk.read(0, length, { signal: new AbortController().signal }),
      );
      controller.abort(new Stop('one'));
      const [, ...found] = await Promise.all([aborted, ...others]);
      for (const bytes of found)
        sameBytes(bytes, model.subarray(0, length), 0, 'a read beside an aborted one');
    },
  },
];
