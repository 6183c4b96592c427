import { continues, type Extent } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { edges, some } from '../bench/ranges.ts';
import { ensure, equal, isZero } from '../expect.ts';
import type { Check } from '../types.ts';

const show = ({ offset, length, data, zero, present }: Extent): string =>
  `extent of ${length} bytes at ${offset} (data ${data}, zero ${zero}, present ${present})`;

/** Walks a range by blockStatus as the node tells it. */
async function walk(bench: Bench, start: number, end: number): Promise<Extent[]> {
  const extents: Extent[] = [];
  for (let at = start; at < end; ) {
    const extent = await bench.disk.blockStatus(at, end - at);
    equal(extent.offset, at, 'blockStatus: offset of the extent');
    ensure(
      Number.isSafeInteger(extent.length) && extent.length > 0,
      `blockStatus at ${at}: an extent of ${extent.length} bytes`,
    );
    ensure(
      extent.length <= end - at,
      `blockStatus at ${at}: ${extent.length} bytes, more than the ${end - at} that were asked for`,
    );
    extents.push(extent);
    at += extent.length;
  }
  return extents;
}

/** What is told as zero reads as zero. */
async function checkZeroes(bench: Bench, extents: readonly Extent[]): Promise<void> {
  for (const extent of extents) {
    if (!extent.zero) continue;
    const end = extent.offset + extent.length;
    for (let at = extent.offset; at < end; at += 1 << 20) {
      const bytes = await bench.disk.read(at, Math.min(1 << 20, end - at));
      ensure(isZero(bytes), `${show(extent)} is told as zero, but has other bytes`);
    }
  }
}

/** A disk with bytes, holes and zeroes where it can have them. */
async function mixed(bench: Bench): Promise<void> {
  if (!bench.keeps) return;
  const { disk, model, random, size } = bench;
  const third = Math.floor(size / 3);
  await bench.write(0, random.bytes(Math.min(third, 100_000)));
  await bench.write(third, random.bytes(Math.min(size - third, 1000)));
  await disk.writeZeroes(Math.floor(third / 2), third);
  model.fill(0, Math.floor(third / 2), Math.floor(third / 2) + third);
  await bench.write(2 * third, random.bytes(Math.min(size - 2 * third, 5000)));
}

export const status: Check[] = [
  {
    name: 'status/covers',
    about: 'extents follow one another and cover the disk exactly',
    requires: [],
    async run(bench) {
      await mixed(bench);
      await walk(bench, 0, bench.size);
      for (const start of some(edges(bench.size, bench.disk.limits.requestAlignment), 20))
        await walk(bench, start, bench.size);
    },
  },
  {
    name: 'status/fields',
    about: 'the fields of an extent agree with each other',
    requires: [],
    async run(bench) {
      await mixed(bench);
      for (const extent of await walk(bench, 0, bench.size)) {
        const what = show(extent);
        for (const field of ['data', 'zero', 'present', 'compressed'] as const) {
          equal(typeof extent[field], 'boolean', `${what}: type of ${field}`);
        }
        ensure(extent.data || extent.zero, `${what}: what has no data reads as zeroes`);
        ensure(extent.present || !extent.data, `${what}: data is present in some layer`);
        ensure(Number.isSafeInteger(extent.depth) && extent.depth >= 0, `${what}: depth ${extent.depth}`);
        ensure(
          extent.hostOffset === undefined ||
            (Number.isSafeInteger(extent.hostOffset) && extent.hostOffset >= 0),
          `${what}: hostOffset ${extent.hostOffset}`,
        );
        ensure(
          extent.hostOffset === undefined || !extent.compressed,
          `${what}: a host offset, but compressed`,
        );
        equal(
          extent.hostNode === undefined,
          extent.hostOffset === undefined,
          `${what}: a host offset needs a host node`,
        );
      }
    },
  },
  {
    name: 'status/truthful',
    about: 'what is told as zero reads as zero',
    requires: [],
    async run(bench) {
      await checkZeroes(bench, await walk(bench, 0, bench.size));
      await mixed(bench);
      await checkZeroes(bench, await walk(bench, 0, bench.size));
      await bench.verify('after block status');
    },
  },
  {
    name: 'status/after-write',
    about: 'a write into a range that was told as zero is told at once',
    requires: ['write', 'store'],
    minSize: 1,
    async run(bench) {
      const { disk, model, random, size } = bench;
      await disk.writeZeroes(0, size);
      model.fill(0);
      for (let i = 0; i < 8; i++) {
        await walk(bench, 0, size);
        const offset = random.below(size);
        await bench.write(offset, random.bytes(1 + random.below(Math.min(size - offset, 700))));
        const extent = await disk.blockStatus(offset, 1);
        ensure(!extent.zero, `${show(extent)} is told as zero after a write`);
        await checkZeroes(bench, await walk(bench, 0, size));
      }
    },
  },
  {
    name: 'status/parts-agree',
    about: 'a part of the disk is told as the whole is',
    requires: [],
    minSize: 1,
    async run(bench) {
      await mixed(bench);
      const whole = await walk(bench, 0, bench.size);
      for (const at of some(edges(bench.size, bench.disk.limits.requestAlignment), 24)) {
        if (at === bench.size) continue;
        const part = await bench.disk.blockStatus(at, 1);
        equal(part.length, 1, `blockStatus of one byte at ${at}: length`);
        const around = whole.find(({ offset, length }) => offset <= at && at < offset + length) as Extent;
        for (const field of ['data', 'zero', 'present', 'depth', 'compressed'] as const) {
          equal(
            part[field],
            around[field],
            `blockStatus of one byte at ${at}, against ${show(around)}: ${field}`,
          );
        }
      }
    },
  },
  {
    name: 'status/joined',
    about: 'disk.extents() joins neighbours of one status, for the whole disk and for ranges',
    requires: [],
    async run(bench) {
      await mixed(bench);
      const { disk, size } = bench;
      for (const [start, end] of [
        [0, size],
        [Math.floor(size / 3), Math.ceil((2 * size) / 3)],
      ] as const) {
        let at = start;
        let before: Extent | undefined;
        for await (const extent of disk.extents({ start, end })) {
          equal(extent.offset, at, 'extents: offset');
          ensure(
            !before || !continues(before, extent),
            `extents: ${before && show(before)} and ${show(extent)} are one`,
          );
          at += extent.length;
          before = extent;
        }
        equal(at, end, 'extents: end');
      }
    },
  },
  {
    name: 'status/unsupported',
    about: 'a driver that does not tell extents has all its bytes told as data',
    requires: [],
    unless: 'blockStatus',
    minSize: 1,
    async run(bench) {
      for (const extent of await walk(bench, 0, bench.size))
        ensure(extent.data && !extent.zero, `${show(extent)} must be data`);
    },
  },
];
