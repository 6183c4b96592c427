import { expect, it } from 'vitest';
import { interop, Workspace } from '../../interop/qemu.ts';
import { concurrencyRun } from '../runs/concurrency.ts';
import { everyFault } from '../runs/faults.ts';
import { imageOf, operationsOf } from '../runs/qcow2.ts';
import { turnsRun } from '../runs/turns.ts';
import { drawSetup } from '../setup/setup.ts';
import { seeds } from './settings.ts';

it('requests in flight together do what some order of them does', async () => {
  const run = (seed: number) => concurrencyRun(imageOf(seed), { seed, rounds: 3, width: 200 });
  expect(await seeds('requests in flight', 100_000, 40, run)).toEqual([]);
});

it('a request that fails below costs no more than itself', async () => {
  const run = (seed: number) => everyFault(imageOf(seed), operationsOf(seed, 25), { each: 1 });
  expect(await seeds('faults', 3000, 20, run)).toEqual([]);
});

interop('the real tools and we', () => {
  const space = new Workspace();

  it('take turns', { timeout: 3_600_000 }, async () => {
    const run = (seed: number) => turnsRun(space, drawSetup(seed), seed, 8);
    expect(await seeds('operations in turns', 10_000, 40, run)).toEqual([]);
  });
});
