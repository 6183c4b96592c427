import type { Flaw } from './kit.ts';
import { limitsAndCounters, statuses, zeroesAndDiscards } from './ranges.ts';
import { reads } from './reads.ts';
import { aborts, flushes, lifecycles, misuse, permissions, sizes } from './rules.ts';
import { writes } from './writes.ts';

/** What drivers get wrong. */
export const flaws: readonly Flaw[] = [
  ...lifecycles,
  ...misuse,
  ...reads,
  ...writes,
  ...zeroesAndDiscards,
  ...flushes,
  ...statuses,
  ...limitsAndCounters,
  ...sizes,
  ...permissions,
  ...aborts,
];

export type { Flaw } from './kit.ts';
