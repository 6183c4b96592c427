import { type Arrangement, Bench } from './bench/bench.ts';
import { capabilitiesOf, checkSkips, skipReason } from './capabilities.ts';
import { checks } from './checks/index.ts';
import { ConformanceError, NotApplicable } from './expect.ts';
import type { Check, ConformanceOptions } from './types.ts';

export type Outcome =
  | { status: 'pass' }
  | { status: 'fail'; error: Error }
  | { status: 'skip'; reason: string };

/** What `runChecks` tells while it runs. */
export type ConformanceEvent = { check: Check; arrangement: Arrangement } & (
  | { status: 'start' }
  | (Outcome & { milliseconds: number })
);

export const defaultTimeout = 20_000;

const variables = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;

export const seedOf = ({ seed }: ConformanceOptions): number => {
  const given = seed ?? Number(variables?.CONFORMANCE_SEED ?? Number.NaN);
  return Number.isSafeInteger(given) ? given : Math.floor(Math.random() * 2 ** 31);
};

async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConformanceError(`has not settled after ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function perform(check: Check, bench: Bench): Promise<void> {
  const { fixture } = bench;
  if (fixture.size < (check.minSize ?? 0))
    throw new NotApplicable(`it needs a disk of ${check.minSize} bytes`);
  if (check.requires.includes('write') && fixture.options.readOnly)
    throw new NotApplicable('the fixture is read-only');
  bench.disk = await bench.open(bench.tree(check.open));
  await check.run(bench);
}

/** Runs one check on a disk of its own. Does not throw: what went wrong is in the outcome. */
export async function runCheck(
  check: Check,
  options: ConformanceOptions,
  arrangement: Arrangement = 'direct',
): Promise<Outcome> {
  const reason = skipReason(check, options);
  if (reason !== undefined) return { status: 'skip', reason };
  const timeout = options.timeout ?? defaultTimeout;
  let bench: Bench | undefined;
  let outcome: Outcome = { status: 'pass' };
  try {
    bench = new Bench(
      options,
      capabilitiesOf(options),
      await options.fixture(),
      arrangement,
      seedOf(options),
    );
    await inTime(perform(check, bench), timeout);
  } catch (error) {
    if (error instanceof NotApplicable) outcome = { status: 'skip', reason: error.message };
    else outcome = { status: 'fail', error: error as Error };
  }
  try {
    if (bench) await inTime(bench.end(), timeout);
  } catch (error) {
    if (outcome.status !== 'fail') outcome = { status: 'fail', error: error as Error };
  }
  return outcome;
}

export interface RunSettings {
  /** Only checks whose name is in here. */
  only?: readonly string[];
  /** No check is started after it. */
  signal?: AbortSignal;
}

export const arrangements = ({ passThrough = true }: ConformanceOptions): Arrangement[] =>
  passThrough ? ['direct', 'pass-through'] : ['direct'];

/** Runs the checks one after the other and tells of each when it starts and when it ends. */
export async function* runChecks(
  options: ConformanceOptions,
  settings: RunSettings = {},
): AsyncGenerator<ConformanceEvent, void, undefined> {
  checkSkips(options.skip, checks);
  for (const arrangement of arrangements(options)) {
    for (const check of checks) {
      if (settings.only && !settings.only.includes(check.name)) continue;
      if (settings.signal?.aborted) return;
      yield { check, arrangement, status: 'start' };
      const start = performance.now();
      const outcome = await runCheck(check, options, arrangement);
      yield { check, arrangement, ...outcome, milliseconds: performance.now() - start };
    }
  }
}
