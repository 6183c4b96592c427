import { expect, it } from 'vitest';
import { interop, Workspace } from '../../interop/qemu.ts';
import { modelRun } from '../runs/model.ts';
import { imageOf, operationsOf } from '../runs/qcow2.ts';
import { sameThere } from '../runs/same-there.ts';
import { Pairs } from '../setup/pairs.ts';
import { drawSetup } from '../setup/setup.ts';
import { seeds, soak } from './settings.ts';

const perSeed = 100;

interop('operations', () => {
  const space = new Workspace();

  it('do what they do to a plain buffer, in our eyes and those of the real qemu-img', {
    timeout: 3_600_000,
  }, async () => {
    const pairs = new Pairs();
    const refused = new Map<string, number>();
    const failed = await seeds('operations', soak.operations, 40, async (seed) => {
      pairs.add(drawSetup(seed));
      const run = await modelRun(imageOf(seed), operationsOf(seed, perSeed), (...left) =>
        sameThere(space, ...left),
      );
      for (const [why, count] of run.refused) refused.set(why, (refused.get(why) ?? 0) + count);
      return run.done;
    });
    console.log(`${pairs.count} pairs of option values; refused: ${JSON.stringify([...refused])}`);
    expect(failed).toEqual([]);
  });
});
