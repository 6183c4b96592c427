import type { Check } from '../types.ts';
import { aborting } from './abort.ts';
import { misuse } from './arguments.ts';
import { concurrent } from './concurrent.ts';
import { counters } from './counters.ts';
import { describing } from './describe.ts';
import { detectZeroes } from './detect-zeroes.ts';
import { discarding } from './discard.ts';
import { errors } from './errors.ts';
import { flushing } from './flush.ts';
import { lifecycle } from './lifecycle.ts';
import { limits } from './limits.ts';
import { random } from './random.ts';
import { reading } from './read.ts';
import { readOnly } from './read-only.ts';
import { resizing } from './resize.ts';
import { status } from './status.ts';
import { streams } from './streams.ts';
import { writing } from './write.ts';
import { zeroes } from './zeroes.ts';

/** Every check, in the order in which they are best read and run. */
export const checks: readonly Check[] = [
  ...lifecycle,
  ...misuse,
  ...reading,
  ...writing,
  ...concurrent,
  ...zeroes,
  ...discarding,
  ...flushing,
  ...status,
  ...limits,
  ...resizing,
  ...readOnly,
  ...aborting,
  ...counters,
  ...describing,
  ...detectZeroes,
  ...streams,
  ...errors,
  ...random,
];
