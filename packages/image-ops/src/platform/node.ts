import type { Hash } from './hash.ts';

export function createSha256(): Hash {
  // Loaded by those who hash, and not by all who import this package.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
}
