import { textOf } from './bytes.ts';

/** "Header: incompatible_features": an image with a bit that is not known here must not be opened. */
export const incompatible = {
  dirty: 0,
  corrupt: 1,
  externalData: 2,
  compressionType: 3,
  extendedL2: 4,
} as const;
/** "Header: compatible_features": unknown bits do no harm. */
export const compatible = { lazyRefcounts: 0 } as const;
/** "Header: autoclear_features": unknown bits are cleared by a writer. */
export const autoclear = { bitmaps: 0, rawExternalData: 1 } as const;
/** Those whose meaning is kept up to date here; a writer clears the others. */
export const knownAutoclear = Object.values(autoclear).reduce((bits, bit) => bits | (1n << BigInt(bit)), 0n);

export const hasBit = (bits: bigint, bit: number): boolean => (bits >> BigInt(bit)) % 2n === 1n;

export type FeatureKind = 'incompatible' | 'compatible' | 'autoclear';

/** An entry of the feature name table, which lets a program name what it does not know. */
export interface FeatureName {
  kind: FeatureKind;
  bit: number;
  name: string;
}

const kinds: readonly FeatureKind[] = ['incompatible', 'compatible', 'autoclear'];
const entryBytes = 48;

/** "Feature name table": entries of a type, a bit number and 46 bytes of name. What makes no sense is left out. */
export function parseFeatureNames(data: Uint8Array): FeatureName[] {
  const found: FeatureName[] = [];
  for (let at = 0; at + entryBytes <= data.length; at += entryBytes) {
    const kind = kinds[data[at] as number];
    const bit = data[at + 1] as number;
    const raw = data.subarray(at + 2, at + entryBytes);
    const end = raw.indexOf(0);
    const name = textOf(end < 0 ? raw : raw.subarray(0, end));
    if (kind && bit < 64 && name) found.push({ kind, bit, name });
  }
  return found;
}

const known = Object.values(incompatible);

/** The incompatible features that are set and not known here, by name where the image gives one. */
export function unknownIncompatible(bits: bigint, names: readonly FeatureName[]): string[] {
  const unknown: string[] = [];
  for (let bit = 0; bit < 64; bit++) {
    if (!hasBit(bits, bit) || known.includes(bit as never)) continue;
    const name = names.find((entry) => entry.kind === 'incompatible' && entry.bit === bit)?.name;
    unknown.push(name === undefined ? `bit ${bit}` : `'${name}' (bit ${bit})`);
  }
  return unknown;
}
