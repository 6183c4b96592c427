export { loadFailure, native } from './native.ts';
export { probe } from './probe.ts';
export type * from './types.ts';
