import type { EngineName } from '@blockyard/native';
import { loadFailure, native, probe } from '@blockyard/native';

/** For the names of skipped tests: why there is nothing to test. */
export const whyNot: string | undefined =
  native === undefined ? ` (skipped: ${loadFailure() ?? 'no native addon'})` : undefined;

/** The engines that can be had on this machine. */
export const engines: EngineName[] = (['io_uring', 'native', 'threads'] as const).filter(
  (kind) => probe().engines[kind].available,
);
