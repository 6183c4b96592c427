export { isAligned } from './aligned.ts';
export { compare, equals } from './compare.ts';
export { concat, flatten } from './concat.ts';
export { copyFrom, copyTo } from './copy.ts';
export { byteLength, elementCount, elements } from './elements.ts';
export { fill } from './fill.ts';
export { slice } from './slice.ts';
export { type SplitLimits, split } from './split.ts';
export type * from './types.ts';
