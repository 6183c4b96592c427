import { alignUp } from '@blockyard/core';
import { viewOf } from './bytes.ts';
import { invalid, type Where } from './failure.ts';

/** "Header extensions": the types that the format defines. */
export const extensionType = {
  end: 0,
  backingFormat: 0xe2792aca,
  featureNames: 0x6803f857,
  bitmaps: 0x23852875,
  encryption: 0x0537be77,
  dataFile: 0x44415441,
} as const;

export interface HeaderExtension {
  type: number;
  /** Name of a type that the format defines. */
  name: keyof typeof extensionType | undefined;
  /** Byte of the file where its data starts. */
  offset: number;
  data: Uint8Array;
}

const nameOf = new Map<number, keyof typeof extensionType>(
  Object.entries(extensionType).map(([name, type]) => [type, name as keyof typeof extensionType]),
);

/**
 * "Header extensions": each a type, a length, and data padded to 8 bytes, up to the end marker, the backing file name
 * or the end of the first cluster.
 */
export function parseExtensions(
  head: Uint8Array,
  start: number,
  end: number,
  where: Where,
): HeaderExtension[] {
  const view = viewOf(head);
  const found: HeaderExtension[] = [];
  for (let at = start; at + 8 <= end; ) {
    const type = view.getUint32(at);
    const length = view.getUint32(at + 4);
    if (type === extensionType.end) break;
    const offset = at + 8;
    if (length > end - offset) {
      const text = `the header extension 0x${type.toString(16)} has ${length} bytes, and ${end - offset} are left for it`;
      throw invalid(where, text, at);
    }
    found.push({ type, name: nameOf.get(type), offset, data: head.slice(offset, offset + length) });
    at = offset + alignUp(length, 8);
  }
  return found;
}
