import { it } from 'vitest';
import { interop, Workspace } from '../interop/qemu.ts';
import { turnsRun } from './runs/turns.ts';
import { describeSetup, drawSetup } from './setup/setup.ts';

const seeds = Number(process.env.INTEROP_RUNS ?? 16);

interop('the real tools and we', () => {
  const space = new Workspace();

  it('take turns on one image', { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const setup = drawSetup(seed);
      try {
        await turnsRun(space, setup, seed, 6);
      } catch (error) {
        throw new Error(`seed ${seed}, ${describeSetup(setup)}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
  });
});
