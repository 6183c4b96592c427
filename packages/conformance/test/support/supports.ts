import type { Capabilities } from '@blockyard/conformance';

/** What the in-memory driver can do. */
export const stored: Partial<Capabilities> = {
  write: true,
  discard: true,
  writeZeroes: true,
  blockStatus: true,
  resize: true,
  fua: true,
};
