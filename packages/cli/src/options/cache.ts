/** The cache modes of qemu-img, by what they mean for the driver. A copy is flushed once at its end in all but unsafe. */
export const cacheModes = {
  writeback: { direct: false, noFlush: false },
  none: { direct: true, noFlush: false },
  writethrough: { direct: false, noFlush: false },
  directsync: { direct: true, noFlush: false },
  unsafe: { direct: false, noFlush: true },
} as const;

export type CacheMode = keyof typeof cacheModes;

export const cacheNames = Object.keys(cacheModes) as CacheMode[];
