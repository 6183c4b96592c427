import { describe, test as vitestTest } from 'vitest';
import { conformance as register } from './conformance.ts';
import { defaultTimeout } from './run.ts';
import type { ConformanceOptions, RunnerTest } from './types.ts';

/** `conformance` with vitest's own `describe` and `test`. */
export function conformance(options: ConformanceOptions): void {
  // A check may use up its time, and then again when its disks are closed; vitest's own limit is for unit tests.
  const timeout = 2 * (options.timeout ?? defaultTimeout) + 1000;
  const test: RunnerTest = Object.assign(
    (name: string, body: (context?: unknown) => Promise<void>) => vitestTest(name, { timeout }, body),
    { skip: vitestTest.skip as unknown as NonNullable<RunnerTest['skip']> },
  );
  register({ ...options, describe, test });
}
