import { type Check, checks, runCheck } from '@blockyard/conformance';
import { describe, expect, test } from 'vitest';
import { flawed } from './support/fixture.ts';
import { flaws } from './support/flaws/index.ts';

const named = (name: string): Check => {
  const check = checks.find((candidate) => candidate.name === name);
  if (!check) throw new Error(`there is no check ${name}`);
  return check;
};

describe('a driver with a flaw fails', () => {
  for (const flaw of flaws) {
    test.each(flaw.found)(`${flaw.what}: %s`, async (name) => {
      const outcome = await runCheck(named(name), { ...flawed(flaw, flaw.declared), ...flaw.settings });
      expect(outcome.status).toBe('fail');
    });
  }
});

/** What the core does alone: no driver can get it wrong. */
const ofTheCore = ['detect-zeroes/unmap-alone', 'errors/promises'];

test('every check finds a flaw', () => {
  const finding = new Set([...flaws.flatMap(({ found }) => found), ...ofTheCore]);
  expect(checks.map(({ name }) => name).filter((name) => !finding.has(name))).toEqual([]);
});

test('what only the core could get wrong is found too', async () => {
  const tree = () => ({ driver: 'store' });
  const disk = {
    close: async () => {},
    size: 0,
    read: () => {
      throw new RangeError('thrown');
    },
  };
  const bench = { tree, disk, writable: false, open: async () => disk } as never;
  await expect(named('detect-zeroes/unmap-alone').run(bench)).rejects.toThrow('must fail, but succeeded');
  await expect(named('errors/promises').run(bench)).rejects.toThrow('instead of rejecting');
});
