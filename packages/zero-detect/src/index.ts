export type { ZeroDetectData } from './data.ts';
export { findNonZero } from './find.ts';
export { implementation } from './implementation.ts';
export { isZero } from './is-zero.ts';
export { firstRun, type ZeroRun, zeroRuns } from './runs.ts';
export type { Implementation } from './scan.types.ts';
