import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operations } from './guest/draw.ts';
import { regressions } from './regressions.ts';
import { modelRun } from './runs/model.ts';
import { imageOf } from './runs/qcow2.ts';
import { image } from './setup/image.ts';
import { plain } from './setup/plain.ts';
import { drawSetup } from './setup/setup.ts';
import { toy } from './setup/toy.ts';

const sequences = (longest: number) => fc.array(operations, { minLength: 1, maxLength: longest });

describe('the model test', () => {
  it.each([plain(100_000), toy('none')])('accepts $name', async (subject) => {
    await fc.assert(
      fc.asyncProperty(sequences(40), async (list) => void (await modelRun(subject, list))),
      { numRuns: 20 },
    );
  });

  it.each([toy('loses writes over its middle')])('finds $name', async (subject) => {
    const property = fc.asyncProperty(sequences(40), async (list) => void (await modelRun(subject, list)));
    expect((await fc.check(property, { numRuns: 50, endOnFailure: true })).failed).toBe(true);
  });
});

describe('any sequence of operations on a qcow2 image', () => {
  it.each(regressions)('$what', async ({ setup, list }) => void (await modelRun(image(setup), list)));

  it('does what it does to a plain buffer, and leaves a sound image', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), sequences(40), async (seed, list) => {
        try {
          await modelRun(imageOf(seed), list);
        } catch (error) {
          throw new Error(`${(error as Error).message}\nsetup: ${JSON.stringify(drawSetup(seed))}`, {
            cause: error,
          });
        }
      }),
      { numRuns: Number(process.env.BLOCKYARD_MODEL_RUNS ?? 100) },
    );
  });
});
