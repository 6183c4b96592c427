import { describe, test } from 'node:test';
import { conformance as register } from './conformance.ts';
import type { ConformanceOptions, Runner } from './types.ts';

/** `conformance` with the `describe` and `test` of node:test. */
export const conformance = (options: ConformanceOptions): void =>
  register({ ...options, ...({ describe, test } as Runner) });
