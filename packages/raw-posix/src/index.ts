export { type RawPosixSettings, rawPosix } from './driver.ts';
export type { AioOption, FileOptions, LockingOption } from './options.ts';
