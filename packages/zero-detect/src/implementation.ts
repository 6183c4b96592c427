import * as platform from '#scan';
import type { Implementation } from './scan.types.ts';

/** What scans large ranges here. In Node the first call tries to load the native addon. */
export const implementation = (): Implementation => platform.implementation();
