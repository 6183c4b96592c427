import type { BigIntStats } from 'node:fs';

/** Major and minor number, as Linux packs them into 64 bits. */
export function deviceNumbers(device: bigint): [major: number, minor: number] {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n);
  return [Number(major), Number(minor)];
}

/** Equal for two names of one file; a block device is itself, whichever node of whichever file system names it. */
export function identityOf(stats: BigIntStats): string {
  if (stats.isBlockDevice()) return `block:${deviceNumbers(stats.rdev).join(':')}`;
  return `${deviceNumbers(stats.dev).join(':')}:${stats.ino}`;
}
