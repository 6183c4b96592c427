import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A directory for the tests of a file; `path(name)` is a name in it. */
export function scratch(): { directory: string; path(name: string): string } {
  const directory = mkdtempSync(join(tmpdir(), 'blockyard-cli-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, path: (name) => join(directory, name) };
}

/** The same bytes for the same seed; none is zero. */
export function noise(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = (state >>> 24) | 1;
  }
  return bytes;
}
