import { checks, conformance, type Runner } from '@blockyard/conformance';
import { memory } from '@blockyard/core';
import { describe, expect, test } from 'vitest';
import { flawed } from './support/fixture.ts';
import { stored } from './support/supports.ts';

interface Registered {
  group: string;
  name: string;
  skipped: boolean;
  body: (context?: unknown) => Promise<void>;
}

/** A runner that only writes down what is registered. */
function recorder(): Runner & { tests: Registered[] } {
  const tests: Registered[] = [];
  let group = '';
  const record = (skipped: boolean) => (name: string, body: Registered['body']) =>
    void tests.push({ group, name, skipped, body });
  return {
    tests,
    describe(name, body) {
      group = name;
      body();
    },
    test: Object.assign(record(false), { skip: record(true) }),
  };
}

const size = 65_536;
const mine = {
  driver: memory(),
  fixture: () => ({ options: { driver: 'memory', size }, size }),
  supports: stored,
};

describe('conformance()', () => {
  test('registers every check twice: alone, and under a pass-through filter', () => {
    const runner = recorder();
    conformance({ ...mine, ...runner });
    expect(runner.tests.length).toBe(2 * checks.length);
    expect(new Set(runner.tests.map(({ group }) => group))).toEqual(
      new Set(['memory conforms', 'memory conforms, under pass-through']),
    );
  });

  test('takes describe and test, or it, from the globals of the runner', () => {
    const runner = recorder();
    const globals = globalThis as { describe?: unknown; it?: unknown };
    expect(() => conformance(mine)).toThrow(/no global describe and test/);
    Object.assign(globals, { describe: runner.describe, it: runner.test });
    try {
      conformance({ ...mine, passThrough: false });
    } finally {
      delete globals.describe;
      delete globals.it;
    }
    expect(runner.tests.length).toBe(checks.length);
  });

  test('says of every skipped check why', () => {
    const runner = recorder();
    conformance({
      ...mine,
      ...runner,
      passThrough: false,
      skip: { 'read/whole': 'no time', 'random/*': 'no luck' },
    });
    const skipped = runner.tests.filter((one) => one.skipped).map(({ name }) => name);
    expect(skipped).toContainEqual(expect.stringMatching(/^read\/whole: .* \(skipped: no time\)$/));
    expect(skipped.filter((name) => name.endsWith('(skipped: no luck)')).length).toBe(4);
    expect(skipped).toContainEqual(
      expect.stringContaining('(skipped: what is written is gone when the node is closed)'),
    );
  });

  test('refuses to skip what does not exist, or without a reason', () => {
    expect(() => conformance({ ...mine, ...recorder(), skip: { 'read/everything': 'why' } })).toThrow(
      "there is no check 'read/everything'",
    );
    expect(() => conformance({ ...mine, ...recorder(), skip: { 'read/whole': '' } })).toThrow(
      "'read/whole' needs a reason",
    );
  });

  test('a failing check fails its test', async () => {
    const runner = recorder();
    const flaw = { node: (node: object) => void Object.assign(node, { _read: () => undefined }) };
    conformance({ ...flawed(flaw), ...runner });
    const whole = runner.tests.find(({ name }) => name.startsWith('read/whole'));
    await expect(whole?.body()).rejects.toThrow(/read of everything: byte 0 is 0, must be/);
  });

  test('a check that finds out that it does not apply tells the runner', async () => {
    const runner = recorder();
    conformance({ ...mine, ...runner, fixture: () => ({ options: { driver: 'memory', size: 0 }, size: 0 }) });
    const reasons: unknown[] = [];
    const one = runner.tests.find(({ name }) => name.startsWith('read/alignments'));
    await one?.body({ skip: (reason: string) => reasons.push(reason) });
    expect(reasons).toEqual(['it needs a disk of 1 bytes']);
    await one?.body();
  });
});
