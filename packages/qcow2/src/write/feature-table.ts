import { autoclear, compatible, type FeatureName, incompatible } from '../features.ts';

const own: readonly FeatureName[] = [
  { kind: 'incompatible', bit: incompatible.dirty, name: 'dirty bit' },
  { kind: 'incompatible', bit: incompatible.corrupt, name: 'corrupt bit' },
  { kind: 'incompatible', bit: incompatible.externalData, name: 'external data file' },
  { kind: 'incompatible', bit: incompatible.compressionType, name: 'compression type' },
  { kind: 'incompatible', bit: incompatible.extendedL2, name: 'extended L2 entries' },
  { kind: 'compatible', bit: compatible.lazyRefcounts, name: 'lazy refcounts' },
  { kind: 'autoclear', bit: autoclear.bitmaps, name: 'bitmaps' },
  { kind: 'autoclear', bit: autoclear.rawExternalData, name: 'raw external data' },
];

const codes = { incompatible: 0, compatible: 1, autoclear: 2 } as const;
const entryBytes = 48;
const nameBytes = 46;

/** "Feature name table": the features known here, then those of the image that are not. */
export function encodeFeatureNames(others: readonly FeatureName[]): Uint8Array {
  const unknown = others.filter(({ kind, bit }) => !own.some((one) => one.kind === kind && one.bit === bit));
  const all = [...own, ...unknown];
  const bytes = new Uint8Array(all.length * entryBytes);
  const utf8 = new TextEncoder();
  all.forEach(({ kind, bit, name }, i) => {
    bytes[i * entryBytes] = codes[kind];
    bytes[i * entryBytes + 1] = bit;
    utf8.encodeInto(name, bytes.subarray(i * entryBytes + 2, i * entryBytes + 2 + nameBytes));
  });
  return bytes;
}
