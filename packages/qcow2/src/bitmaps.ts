import { alignUp, type BlockNode } from '@blockyard/core';
import { safe64, textOf, viewOf } from './bytes.ts';
import { extensionType } from './extensions.ts';
import { invalid, type Where } from './failure.ts';
import { autoclear, hasBit } from './features.ts';
import type { Qcow2Header } from './header.ts';
import { checkTable, maxTableBytes, readTable } from './tables.ts';

/** A persistent bitmap, as the bitmap directory records it. */
export interface Bitmap {
  name: string;
  /** The name as it is stored, which may be no text. */
  nameBytes: Uint8Array;
  /** Bytes of the disk that one bit stands for. */
  granularity: number;
  /** It was not stored when it was last in use: what it says cannot be relied on. */
  inUse: boolean;
  /** It is to be kept up to date whenever the image is written. */
  auto: boolean;
  /** A program that does not know the extra data may use it all the same. */
  extraDataCompatible: boolean;
  tableOffset: number;
  tableSize: number;
  extraData: Uint8Array;
}

export interface BitmapDirectory {
  count: number;
  offset: number;
  length: number;
}

export const fixedBytes = 24;
export const mostBitmaps = 65535;
export const dirtyTracking = 1;
export const bitmapFlag = { inUse: 1, auto: 2, extraDataCompatible: 4 } as const;
export const granularityBits = { least: 9, most: 31 } as const;

/** "Bitmaps extension": where the directory is. Undefined without the autoclear bit: the bitmaps are out of date then. */
export function bitmapDirectory(header: Qcow2Header, file: Where): BitmapDirectory | undefined {
  const extension = header.extensions.find(({ type }) => type === extensionType.bitmaps);
  if (!extension || !hasBit(header.autoclearFeatures, autoclear.bitmaps)) return undefined;
  if (extension.data.length !== 24) {
    throw invalid(
      file,
      `the bitmaps extension has ${extension.data.length} bytes instead of 24`,
      extension.offset,
    );
  }
  const view = viewOf(extension.data);
  const count = view.getUint32(0);
  const length = safe64(view, 8, 'the size of the bitmap directory', file);
  const offset = safe64(view, 16, 'the offset of the bitmap directory', file);
  if (count === 0 || count > mostBitmaps) {
    throw invalid(
      file,
      `the bitmaps extension tells of ${count} bitmaps; there can be 1 to ${mostBitmaps}`,
      extension.offset,
    );
  }
  if (length < count * fixedBytes) {
    throw invalid(file, `the bitmap directory has ${length} bytes, too few for ${count} bitmaps`, offset);
  }
  return { count, offset, length };
}

/** "Bitmap directory". */
export async function readBitmaps(header: Qcow2Header, file: BlockNode): Promise<Bitmap[]> {
  const place = bitmapDirectory(header, file);
  if (!place) return [];
  const { count, offset, length } = place;
  const table = { what: 'the bitmap directory', offset, length };
  checkTable(file, header.clusterSize, table, maxTableBytes.bitmapDirectory);
  const directory = await readTable(file, table);
  const found: Bitmap[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const entry = parseEntry(directory, at, offset, file);
    found.push(entry.bitmap);
    at += entry.length;
  }
  if (at !== length)
    throw invalid(
      file,
      `the bitmap directory has ${length} bytes, and its ${count} entries end at ${at}`,
      offset,
    );
  return found;
}

function parseEntry(
  directory: Uint8Array,
  at: number,
  base: number,
  file: BlockNode,
): { bitmap: Bitmap; length: number } {
  const short = () =>
    invalid(file, 'an entry of the bitmap directory ends after the directory does', base + at);
  if (at + fixedBytes > directory.length) throw short();
  const view = viewOf(directory.subarray(at));
  const flags = view.getUint32(12);
  const type = view.getUint8(16);
  const bits = view.getUint8(17);
  const nameBytes = view.getUint16(18);
  const extraBytes = view.getUint32(20);
  const length = alignUp(fixedBytes + extraBytes + nameBytes, 8);
  if (at + length > directory.length) throw short();
  if (type !== dirtyTracking)
    throw invalid(file, `a bitmap has the type ${type}, which is not known`, base + at);
  if (flags & ~7)
    throw invalid(
      file,
      `a bitmap has the flags 0x${flags.toString(16)}, of which some are not known`,
      base + at,
    );
  const { least, most } = granularityBits;
  if (bits < least || bits > most) {
    throw invalid(file, `a bitmap has granularity_bits ${bits}; there can be ${least} to ${most}`, base + at);
  }
  const nameAt = at + fixedBytes + extraBytes;
  const name = directory.slice(nameAt, nameAt + nameBytes);
  const bitmap = {
    name: textOf(name),
    nameBytes: name,
    granularity: 2 ** bits,
    inUse: (flags & bitmapFlag.inUse) !== 0,
    auto: (flags & bitmapFlag.auto) !== 0,
    extraDataCompatible: (flags & bitmapFlag.extraDataCompatible) !== 0,
    tableOffset: safe64(view, 0, 'the offset of a bitmap table', file),
    tableSize: view.getUint32(8),
    extraData: directory.slice(at + fixedBytes, nameAt),
  };
  return { bitmap, length };
}
