import { createRequire } from 'node:module';
import type { Implementation, Scan } from './scan.types.ts';
import { scanBuffer } from './scan-buffer.ts';
import { scanWords } from './scan-words.ts';

// What `#scan` is in Node: see "imports" in package.json.

/** The part of `@blockyard/native/addon` that is used here. */
interface Addon {
  binding?: { findNonZero?: (view: Uint8Array) => number } | undefined;
}
type FindNonZero = (view: Uint8Array) => number;

/** Below this, crossing into native code or memcmp costs more than it saves. */
export const LARGE_FROM = 700;
/** Looked at before crossing: data nearly always shows here. */
const PEEK = 16;

const load = (): FindNonZero | undefined => {
  try {
    const addon = createRequire(import.meta.url)('@blockyard/native/addon') as Addon;
    const find = addon.binding?.findNonZero;
    return typeof find === 'function' ? find : undefined;
  } catch {
    // An optional peer: not installed, or it cannot be loaded on this platform.
    return undefined;
  }
};

/** Words for small ranges, the native scan for large ones, memcmp in its place where there is none. */
export const createScan =
  (find: FindNonZero | undefined): Scan =>
  (view, from, to) => {
    if (to - from < LARGE_FROM) return scanWords(view, from, to);
    const peeked = scanWords(view, from, from + PEEK);
    if (peeked !== -1) return peeked;
    if (find === undefined) return scanBuffer(view, from, to);
    const at = find(from === 0 && to === view.length ? view : view.subarray(from, to));
    return at === -1 ? -1 : from + at;
  };

let loaded: { find: FindNonZero | undefined } | undefined;

export const implementation = (): Implementation => {
  loaded ??= { find: load() };
  return loaded.find === undefined ? 'buffer' : 'native';
};

// Loading the addon waits for the first large scan: importing this package does no I/O.
let large: Scan = (view, from, to) => {
  large = createScan(implementation() === 'native' ? loaded?.find : undefined);
  return large(view, from, to);
};

export const scan: Scan = (view, from, to) =>
  to - from < LARGE_FROM ? scanWords(view, from, to) : large(view, from, to);
