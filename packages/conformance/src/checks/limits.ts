import { type CommonOptions, checkLimits, type NodeOptions } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';
import { cut, ranges, some } from '../bench/ranges.ts';
import { type Call, watch } from '../bench/watch.ts';
import { ensure, equal } from '../expect.ts';
import type { Check } from '../types.ts';

const isPowerOfTwo = (n: number): boolean => Number.isInteger(Math.log2(n));

/** Requests of every kind and alignment; the model follows where the driver keeps what is written. */
async function exercise(bench: Bench, count: number): Promise<void> {
  const { disk, model, random, size, writable } = bench;
  for (const { offset, length } of some(ranges(size, disk.limits.requestAlignment), count)) {
    await disk.read(offset, length);
    await disk.read(offset, cut(new Uint8Array(length), 1, 0, 511, 512, 4096));
    if (!writable) continue;
    await bench.write(offset, random.bytes(length));
    const part = random.bytes(Math.ceil(length / 2));
    await disk.write(offset, cut(part, 3, 512, 1, 5000));
    model.set(part, offset);
    await disk.writeZeroes(offset, Math.ceil(length / 4), { mayUnmap: true, fua: true });
    model.fill(0, offset, offset + Math.ceil(length / 4));
  }
  if (bench.keeps) await bench.verify('after requests of all kinds');
}

function noFaults(calls: readonly Call[]): void {
  const wrong = calls.find((call) => call.fault !== undefined);
  ensure(
    wrong === undefined,
    `a ${wrong?.op} of ${wrong?.length} bytes at ${wrong?.offset} reached the driver: ${wrong?.fault}`,
  );
}

const unmap: CommonOptions = { discard: 'unmap' };

export const limits: Check[] = [
  {
    name: 'limits/sane',
    about: 'the limits make sense: powers of two where they must be, maxima that hold whole blocks',
    requires: [],
    async run({ node }) {
      const { limits } = node;
      checkLimits({ ...limits });
      for (const name of ['requestAlignment', 'minMemAlignment', 'optMemAlignment'] as const) {
        ensure(isPowerOfTwo(limits[name]), `limits.${name}: ${limits[name]} is not a power of two`);
      }
      for (const name of ['pdiscardAlignment', 'pwriteZeroesAlignment'] as const) {
        equal(
          limits[name] % limits.requestAlignment,
          0,
          `limits.${name}: bytes over a multiple of requestAlignment`,
        );
      }
      for (const name of ['maxTransfer', 'maxHwTransfer'] as const) {
        ensure(
          limits[name] === 0 || limits[name] >= limits.requestAlignment,
          `limits.${name}: less than one block`,
        );
      }
      ensure(
        limits.optTransfer === 0 || limits.maxTransfer === 0 || limits.optTransfer <= limits.maxTransfer,
        'limits.optTransfer: more than maxTransfer',
      );
    },
  },
  {
    name: 'limits/stable',
    about: 'asking for the limits again gives the same',
    requires: [],
    async run({ node }) {
      const before = JSON.stringify(node.limits);
      await node.refreshLimits();
      equal(JSON.stringify(node.limits), before, 'limits after refreshLimits');
    },
  },
  {
    name: 'limits/obeyed',
    about: 'every request that reaches the driver is one that its limits allow',
    requires: [],
    minSize: 1,
    open: unmap,
    async run(bench) {
      const calls = watch(bench.node);
      await exercise(bench, 40);
      if (bench.writable) await bench.disk.discard(0, bench.size);
      noFaults(calls);
    },
  },
  {
    name: 'limits/narrow',
    about: 'the driver works below a filter that takes little: padded, split and put together again',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.disk.close();
      const tree: NodeOptions = { driver: 'conformance-narrow', ...unmap, file: bench.tree(unmap) };
      bench.disk = await bench.open(bench.fixture.options.readOnly ? { ...tree, readOnly: true } : tree);
      ensure(bench.disk.size === bench.size, `size through a filter: ${bench.disk.size}`);
      if (bench.fixture.content || bench.capabilities.store)
        await bench.verify('as opened through the filter');
      await bench.fill();
      await exercise(bench, 24);
      if (bench.keeps) {
        await bench.disk.writeZeroes(0, bench.size);
        bench.model.fill(0);
        await bench.verify('after everything was zeroed');
      }
    },
  },
];
