import {
  type ConformanceEvent,
  type ConformanceOptions,
  checks,
  runCheck,
  runChecks,
  skipReason,
} from '@blockyard/conformance';
import { memory } from '@blockyard/core';
import { describe, expect, test } from 'vitest';
import { flawed } from './support/fixture.ts';
import { stored } from './support/supports.ts';

async function collect(
  options: ConformanceOptions,
  only: string[],
  signal?: AbortSignal,
): Promise<ConformanceEvent[]> {
  const events: ConformanceEvent[] = [];
  for await (const event of runChecks(options, { only, ...(signal ? { signal } : {}) })) events.push(event);
  return events;
}

const brief = (events: ConformanceEvent[]) =>
  events.map(({ check, arrangement, status }) => `${check.name} ${arrangement} ${status}`);
const find = (name: string) => checks.find((check) => check.name === name) as (typeof checks)[number];

describe('checks as data', () => {
  test('have names of their own, in groups, and say what must hold', () => {
    expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
    for (const { name, about } of checks) {
      expect(name).toMatch(/^[a-z-]+\/[a-z-]+$/);
      expect(about.length).toBeGreaterThan(15);
    }
  });

  test('tell when they start and how they end', async () => {
    const forgets = { node: (node: object) => void Object.assign(node, { _write: () => undefined }) };
    const options = { ...flawed(forgets), passThrough: true, skip: { 'read/zero-length': 'as a test' } };
    const events = await collect(options, ['lifecycle/size', 'read/zero-length', 'write/whole']);
    expect(brief(events)).toEqual(
      ['direct', 'pass-through'].flatMap((way) => [
        `lifecycle/size ${way} start`,
        `lifecycle/size ${way} pass`,
        `read/zero-length ${way} start`,
        `read/zero-length ${way} skip`,
        `write/whole ${way} start`,
        `write/whole ${way} fail`,
      ]),
    );
    expect(events[3]).toMatchObject({ reason: 'as a test', milliseconds: expect.any(Number) });
    expect(events[5]).toMatchObject({
      error: { name: 'ConformanceError', message: expect.stringContaining('byte 0 is 0') },
    });
  });

  test('can be stopped between two of them', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const { check, status } of runChecks(flawed({}), { signal: controller.signal })) {
      seen.push(`${check.name} ${status}`);
      if (seen.length === 3) controller.abort();
    }
    expect(seen).toEqual([
      'lifecycle/size start',
      'lifecycle/size pass',
      'lifecycle/supports start',
      'lifecycle/supports pass',
    ]);
  });

  test('a check that hangs fails in time', async () => {
    const hangs = {
      node: (node: object) => void Object.assign(node, { _read: () => new Promise(() => {}) }),
    };
    const outcome = await runCheck(find('read/whole'), { ...flawed(hangs), timeout: 50 });
    expect(outcome).toMatchObject({ status: 'fail', error: { message: 'has not settled after 50 ms' } });
  });

  test('a fixture that fails, and a clean-up that fails, fail the check', async () => {
    const fixture = () => {
      throw new Error('no disk');
    };
    expect(await runCheck(find('read/whole'), { ...flawed({}), fixture })).toMatchObject({
      status: 'fail',
      error: { message: 'no disk' },
    });
    const cleanup = () => {
      throw new Error('no mop');
    };
    const untidy = { ...flawed({}), fixture: async () => ({ ...(await flawed({}).fixture()), cleanup }) };
    expect(await runCheck(find('read/whole'), untidy)).toMatchObject({
      status: 'fail',
      error: { message: 'no mop' },
    });
  });

  test('every fixture is cleaned up, also those of random sequences', async () => {
    let open = 0;
    let made = 0;
    const options: ConformanceOptions = {
      ...flawed({}),
      async fixture() {
        open++;
        made++;
        return { ...(await flawed({}).fixture()), cleanup: () => void open-- };
      },
    };
    expect((await runCheck(find('random/requests'), options)).status).toBe('pass');
    expect([open, made]).toEqual([0, 11]);
  });

  test('a random failure tells seed and sequence, and the seed repeats it', async () => {
    const loses = {
      node(node: object) {
        const { _write } = node as { _write: (...args: unknown[]) => unknown };
        Object.assign(node, {
          _write: (at: number, ...rest: unknown[]) =>
            at > 100_000 ? undefined : _write.call(node, at, ...rest),
        });
      },
    };
    const failing = async (seed: number) => {
      const outcome = await runCheck(find('random/requests'), { ...flawed(loses), seed });
      return outcome.status === 'fail' ? outcome.error.message : outcome.status;
    };
    const told = await failing(1234);
    expect(told).toMatch(/seed: 1234 \(CONFORMANCE_SEED=1234 repeats it\)\nsequence: \[\{"op":/);
    expect(await failing(1234)).toBe(told);
    const steps = JSON.parse(told.split('sequence: ')[1] as string) as unknown[];
    expect(steps.length).toBeLessThan(4);
  });

  test('a reason is told for what does not apply', () => {
    const readOnly: ConformanceOptions = {
      driver: memory(),
      fixture: flawed({}).fixture,
      supports: { blockStatus: true },
    };
    expect(skipReason(find('write/whole'), readOnly)).toBe('the driver does not write');
    expect(skipReason(find('read/whole'), readOnly)).toBeUndefined();
    expect(skipReason(find('resize/unsupported'), { ...readOnly, supports: stored })).toBe(
      'the driver can: resize',
    );
    expect(skipReason(find('write/whole'), { ...readOnly, supports: { write: true, store: false } })).toBe(
      'the driver does not keep what is written',
    );
  });
});
