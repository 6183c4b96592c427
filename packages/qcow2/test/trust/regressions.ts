import type { Operation } from './guest/operations.ts';
import type { Setup } from './setup/setup.ts';

/** What once went wrong, as short as fast-check made it. */
export const regressions: { what: string; setup: Setup; list: Operation[] }[] = [];
