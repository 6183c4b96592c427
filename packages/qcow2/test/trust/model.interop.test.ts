import { it } from 'vitest';
import { interop, Workspace } from '../interop/qemu.ts';
import { modelRun } from './runs/model.ts';
import { imageOf, operationsOf } from './runs/qcow2.ts';
import { sameThere } from './runs/same-there.ts';

const seeds = Number(process.env.INTEROP_RUNS ?? 40);

interop('after any sequence of operations', () => {
  const space = new Workspace();

  it('the real tools find a sound image, and see in it what we do', { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const subject = imageOf(seed);
      try {
        await modelRun(subject, operationsOf(seed, 40), (...left) => sameThere(space, ...left));
      } catch (error) {
        throw new Error(`seed ${seed}, ${subject.name}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
