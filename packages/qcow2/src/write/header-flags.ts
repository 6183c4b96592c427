import { autoclear, compatible, hasBit, incompatible } from '../features.ts';
import type { Qcow2Header } from '../header.ts';

/** What the header's fields say in words, and its feature bits as well. */
export type HeaderFlags = Pick<
  Qcow2Header,
  | 'dirty'
  | 'corrupt'
  | 'externalData'
  | 'compressionType'
  | 'extendedL2'
  | 'lazyRefcounts'
  | 'rawExternalData'
>;

const places = {
  dirty: ['incompatibleFeatures', incompatible.dirty],
  corrupt: ['incompatibleFeatures', incompatible.corrupt],
  externalData: ['incompatibleFeatures', incompatible.externalData],
  compressionType: ['incompatibleFeatures', incompatible.compressionType],
  extendedL2: ['incompatibleFeatures', incompatible.extendedL2],
  lazyRefcounts: ['compatibleFeatures', compatible.lazyRefcounts],
  rawExternalData: ['autoclearFeatures', autoclear.rawExternalData],
} as const;

const names = Object.keys(places) as (keyof HeaderFlags)[];
const isSet = (value: boolean | 'zlib' | 'zstd'): boolean => value === true || value === 'zstd';

/** A change of flags as a change of the header: the words, and the bits that go with them. */
export function withFlags(header: Qcow2Header, flags: Partial<HeaderFlags>): Partial<Qcow2Header> {
  const { incompatibleFeatures, compatibleFeatures, autoclearFeatures } = header;
  const change = { ...flags, incompatibleFeatures, compatibleFeatures, autoclearFeatures };
  for (const name of names) {
    const value = flags[name];
    if (value === undefined) continue;
    const [field, bit] = places[name];
    const mask = 1n << BigInt(bit);
    change[field] = isSet(value) ? change[field] | mask : change[field] & ~mask;
  }
  return change;
}

/** @throws TypeError when words and bits differ: which of them was meant is not known */
export function checkFlags(header: Qcow2Header): void {
  for (const name of names) {
    const [field, bit] = places[name];
    const told = hasBit(header[field], bit) && (name !== 'rawExternalData' || header.externalData);
    if (isSet(header[name]) === told) continue;
    throw new TypeError(
      `qcow2 header: ${name} is ${header[name]}, and bit ${bit} of ${field} says otherwise; change both (withFlags)`,
    );
  }
}
