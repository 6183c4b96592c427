import { describe, it } from 'vitest';
import { repairRun } from './runs/repair.ts';
import { image } from './setup/image.ts';
import { drawSetup } from './setup/setup.ts';

describe('a power cut while an image is repaired that was not closed', () => {
  it.each(Array.from({ length: 6 }, (_, i) => i + 1))('costs nothing (seed %i)', async (seed) => {
    await repairRun(image({ ...drawSetup(seed), version: 3, lazyRefcounts: true }), { seed, points: 15 });
  });
});
