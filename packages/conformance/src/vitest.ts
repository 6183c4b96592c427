import { describe, test } from 'vitest';
import { conformance as register } from './conformance.ts';
import type { ConformanceOptions, RunnerTest } from './types.ts';

/** `conformance` with vitest's own `describe` and `test`. */
export const conformance = (options: ConformanceOptions): void =>
  register({ ...options, describe, test: test as RunnerTest });
