import { alignUp } from '@blockyard/core';
import { type Bitmap, bitmapFlag, dirtyTracking, fixedBytes } from '../bitmaps.ts';
import { viewOf } from '../bytes.ts';
import { extensionType, type HeaderExtension } from '../extensions.ts';
import { autoclear } from '../features.ts';
import type { Qcow2Header } from '../header.ts';

/** Where in an entry of the bitmap directory its flags are. */
export const flagsAt = 12;

type Entry = Omit<Bitmap, 'name'>;

export const entryBytes = ({ extraData, nameBytes }: Entry): number =>
  alignUp(fixedBytes + extraData.length + nameBytes.length, 8);

export const flagsOf = ({ inUse, auto, extraDataCompatible }: Entry): number =>
  (inUse ? bitmapFlag.inUse : 0) |
  (auto ? bitmapFlag.auto : 0) |
  (extraDataCompatible ? bitmapFlag.extraDataCompatible : 0);

/** "Bitmap directory" */
export function encodeDirectory(bitmaps: readonly Entry[]): Uint8Array {
  const bytes = new Uint8Array(bitmaps.reduce((length, bitmap) => length + entryBytes(bitmap), 0));
  let at = 0;
  for (const bitmap of bitmaps) {
    const view = viewOf(bytes.subarray(at));
    view.setBigUint64(0, BigInt(bitmap.tableOffset));
    view.setUint32(8, bitmap.tableSize);
    view.setUint32(flagsAt, flagsOf(bitmap));
    view.setUint8(16, dirtyTracking);
    view.setUint8(17, Math.log2(bitmap.granularity));
    view.setUint16(18, bitmap.nameBytes.length);
    view.setUint32(20, bitmap.extraData.length);
    bytes.set(bitmap.extraData, at + fixedBytes);
    bytes.set(bitmap.nameBytes, at + fixedBytes + bitmap.extraData.length);
    at += entryBytes(bitmap);
  }
  return bytes;
}

/** What the header says of a directory, or of none: the extension, and the bit that goes with it. */
export function bitmapFields(
  header: Qcow2Header,
  directory: { count: number; offset: number; length: number } | undefined,
): Pick<Qcow2Header, 'extensions' | 'autoclearFeatures'> {
  const bit = 1n << BigInt(autoclear.bitmaps);
  const extensions = header.extensions.filter(({ type }) => type !== extensionType.bitmaps);
  if (!directory) return { extensions, autoclearFeatures: header.autoclearFeatures & ~bit };
  const data = new Uint8Array(24);
  const view = viewOf(data);
  view.setUint32(0, directory.count);
  view.setBigUint64(8, BigInt(directory.length));
  view.setBigUint64(16, BigInt(directory.offset));
  const extension: HeaderExtension = { type: extensionType.bitmaps, name: 'bitmaps', offset: 0, data };
  return { extensions: [...extensions, extension], autoclearFeatures: header.autoclearFeatures | bit };
}
