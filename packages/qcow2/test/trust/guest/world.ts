import type { BlockDriver } from '@blockyard/core';
import type { Below } from '../setup/subject.ts';

/** Where a guest's files are. */
export interface World {
  readonly driver: BlockDriver;
  readonly below: Below;
  /** A new moment. */
  tick(): number;
}
