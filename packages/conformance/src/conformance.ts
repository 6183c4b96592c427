import type { Arrangement } from './bench/bench.ts';
import { checkSkips, skipReason } from './capabilities.ts';
import { checks } from './checks/index.ts';
import { arrangements, runCheck } from './run.ts';
import type { Check, ConformanceOptions, Runner, RunnerTest } from './types.ts';

/** `describe` and `test` or `it`, as most runners make them global. */
function globalRunner(): Runner {
  const { describe, test, it } = globalThis as unknown as Partial<Runner> & { it?: RunnerTest };
  const found = test ?? it;
  if (!describe || !found) {
    throw new TypeError(
      "conformance: this runner has no global describe and test; import conformance from '@blockyard/conformance/vitest' or '@blockyard/conformance/node', or pass { describe, test }",
    );
  }
  return { describe, test: found };
}

type Skippable = { skip?: (reason?: string) => void } | undefined;

function register(
  check: Check,
  options: ConformanceOptions,
  arrangement: Arrangement,
  { test }: Runner,
): void {
  const title = `${check.name}: ${check.about}`;
  const reason = skipReason(check, options);
  if (reason !== undefined) {
    const skipped = test.skip ?? test;
    skipped(`${title} (skipped: ${reason})`, async () => {});
    return;
  }
  test(title, async (context) => {
    const outcome = await runCheck(check, options, arrangement);
    if (outcome.status === 'fail') throw outcome.error;
    if (outcome.status === 'skip') (context as Skippable)?.skip?.(outcome.reason);
  });
}

/**
 * Registers every check as a test of the runner: once with the driver alone, once with a pass-through filter on top.
 * @throws TypeError when `skip` names a check that does not exist, or there is no runner.
 */
export function conformance(options: ConformanceOptions & Partial<Runner>): void {
  checkSkips(options.skip, checks);
  const { describe, test } = options;
  const runner = describe && test ? { describe, test } : globalRunner();
  const name = options.name ?? options.driver.name;
  for (const arrangement of arrangements(options)) {
    runner.describe(`${name} conforms${arrangement === 'direct' ? '' : `, under ${arrangement}`}`, () => {
      for (const check of checks) register(check, options, arrangement, runner);
    });
  }
}
