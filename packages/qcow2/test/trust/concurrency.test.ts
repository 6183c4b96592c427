import { describe, expect, it } from 'vitest';
import { concurrencyRun } from './runs/concurrency.ts';
import { imageOf } from './runs/qcow2.ts';
import { plain } from './setup/plain.ts';
import { toy } from './setup/toy.ts';

const many = { rounds: 3, width: 100 };

describe('the concurrency test', () => {
  it.each([plain(100_000), toy('none')])('accepts $name', async (subject) => {
    for (let seed = 1; seed <= 3; seed++) await concurrencyRun(subject, { seed, ...many });
  });

  it.each([toy('copies without waiting')])('finds $name', async (subject) => {
    await expect(concurrencyRun(subject, { seed: 1, ...many })).rejects.toThrow('byte');
  });
});

describe('hundreds of requests in flight on few clusters of a qcow2 image', () => {
  it.each([16, 28, ...Array.from({ length: 6 }, (_, i) => i + 1)])(
    'do what some order of them does (seed %i)',
    async (seed) => {
      await concurrencyRun(imageOf(seed), { seed, rounds: 2, width: 150 });
    },
  );
});
