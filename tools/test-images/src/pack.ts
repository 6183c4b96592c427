import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { StoredFile } from './manifest.ts';

/** Files up to this size are kept as they are, to be looked at with any tool. */
const plainUpTo = 64 << 10;

/** Larger ones are mostly zeroes, and git keeps no holes. The demo is for people, and not packed. */
export function pack(from: string, name: string, into: string, plain: boolean): StoredFile {
  const bytes = readFileSync(join(from, name));
  const entry: StoredFile = {
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
  if (plain || bytes.length <= plainUpTo) {
    writeFileSync(join(into, name), bytes);
    return entry;
  }
  writeFileSync(join(into, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  return { ...entry, gzip: true };
}

/** Without holes, as git will check it out: qemu's map shows the holes of files that were preallocated. */
export function makeDense(directory: string, name: string): void {
  const path = join(directory, name);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes);
}
