import { describe, expect, it } from 'vitest';
import { everyFault } from './runs/faults.ts';
import { imageOf, operationsOf } from './runs/qcow2.ts';
import { plain } from './setup/plain.ts';
import { toy } from './setup/toy.ts';

describe('the fault test', () => {
  it.each([plain(100_000), toy('none')])('accepts $name', async (subject) => {
    for (let seed = 1; seed <= 3; seed++) {
      expect(await everyFault(subject, operationsOf(seed, 20), { each: 1 })).toBeGreaterThan(10);
    }
  });

  it.each([toy('forgets errors')])('finds $name', async (subject) => {
    await expect(everyFault(subject, operationsOf(1, 20), { each: 1 })).rejects.toThrow();
  });
});

describe('a qcow2 image below which requests fail', () => {
  it.each([2, 3, 5, 6, 7])('tells of it, stays sound, and goes on (seed %i)', async (seed) => {
    expect(await everyFault(imageOf(seed), operationsOf(seed, 20), { each: 5 })).toBeGreaterThan(5);
  });
});
