import { spawnSync } from 'node:child_process';
import { describe, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { Turns } from '../support/turns.ts';

const found = ['qemu-img', 'qemu-io'].every((tool) => spawnSync(tool, ['--version']).status === 0);
if (!found && process.env.CI)
  throw new Error('qemu-img or qemu-io is missing, and CI is set: install qemu-utils');
const suite = found ? describe : describe.skip;

const { directory } = scratch();
const firstSeed = Number(process.env.BLOCKYARD_TURNS_SEED ?? 1);
const seeds = Number(process.env.BLOCKYARD_TURNS_SEEDS ?? 8);
const steps = Number(process.env.BLOCKYARD_TURNS_STEPS ?? 40);

suite('an image that blockyard and qemu-img take turns with (skipped without qemu-img and qemu-io)', () => {
  const list = Array.from({ length: seeds }, (_, index) => firstSeed + index);

  it.each(list)('stays what it must be: seed %i', async (seed) => {
    const turns = new Turns(seed, directory);
    console.log(`turns: seed ${seed}, ${turns.options}, ${steps} steps`);
    try {
      await turns.start();
      for (let step = 1; step <= steps; step++) {
        await turns.step();
        await turns.verify(step % 4 === 0 || step === steps);
      }
    } catch (error) {
      const text = `BLOCKYARD_TURNS_SEED=${seed} BLOCKYARD_TURNS_SEEDS=1: ${(error as Error).message}`;
      throw new Error(`${text}\n${turns.log.join('\n')}`, { cause: error });
    }
  });
});
