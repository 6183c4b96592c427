import type { CommonOptions } from '@blockyard/core';
import fc from 'fast-check';
import { Bench } from '../bench/bench.ts';
import { ConformanceError } from '../expect.ts';
import type { Check } from '../types.ts';
import { anySteps, perform, readSteps, resizeSteps, type Step, verifyStatus } from './sequence.ts';

/** Runs sequences, each on a disk of its own; fast-check makes a failing one short before it is told. */
async function sequences(
  outer: Bench,
  steps: fc.Arbitrary<Step>,
  open: CommonOptions,
  follow: typeof oneByOne,
): Promise<void> {
  const { options, capabilities, arrangement, seed } = outer;
  // The fixture may be a device that only one can have open.
  await outer.disk.close();
  const property = fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 40 }), async (list) => {
    const bench = new Bench(options, capabilities, await options.fixture(), arrangement, seed);
    try {
      bench.disk = await bench.open(bench.tree(open));
      if (steps === readSteps) await bench.fill();
      await follow(bench, list);
      await bench.verify('at the end');
      await verifyStatus(bench);
    } finally {
      await bench.end();
    }
  });
  const result = await fc.check(property, { seed, numRuns: options.runs ?? 20, endOnFailure: false });
  if (!result.failed) return;
  const error = result.errorInstance as Error | undefined;
  const shown = JSON.stringify(result.counterexample?.[0]);
  throw new ConformanceError(
    `${error?.message}\nseed: ${seed} (CONFORMANCE_SEED=${seed} repeats it)\nsequence: ${shown}`,
    { cause: error },
  );
}

async function oneByOne(bench: Bench, list: readonly Step[]): Promise<void> {
  for (const step of list) await perform(bench, step);
}

/** Reads between the steps, at once with each other. */
async function withReaders(bench: Bench, list: readonly Step[]): Promise<void> {
  for (let i = 0; i < list.length; i += 8) {
    await Promise.all(list.slice(i, i + 8).map((step) => perform(bench, step)));
  }
}

const unmap: CommonOptions = { discard: 'unmap' };

export const random: Check[] = [
  {
    name: 'random/reads',
    about: 'random reads, block statuses and flushes, several at once, agree with the content',
    requires: [],
    minSize: 1,
    run: (bench) => sequences(bench, readSteps, {}, withReaders),
  },
  {
    name: 'random/requests',
    about: 'random sequences of all requests agree with a plain buffer',
    requires: ['write', 'store'],
    minSize: 1,
    run: (bench) => sequences(bench, anySteps, unmap, oneByOne),
  },
  {
    name: 'random/detect-zeroes',
    about: 'the same with detectZeroes: unmap',
    requires: ['write', 'store'],
    minSize: 1,
    run: (bench) => sequences(bench, anySteps, { ...unmap, detectZeroes: 'unmap' }, oneByOne),
  },
  {
    name: 'random/resize',
    about: 'the same with changes of size',
    requires: ['write', 'store', 'resize'],
    minSize: 1,
    run: (bench) => sequences(bench, resizeSteps, unmap, oneByOne),
  },
];
