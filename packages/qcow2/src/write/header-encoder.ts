import { alignUp } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { extensionType } from '../extensions.ts';
import { unsupported, type Where } from '../failure.ts';
import { headerBytes, knownHeaderBytes, magic, maxNameBytes, type Qcow2Header } from '../header.ts';
import { encodeFeatureNames } from './feature-table.ts';
import { checkFlags } from './header-flags.ts';

/** A header as bytes from the start of the file. Bytes that belong to none of its parts are zero. */
export interface EncodedHeader {
  readonly bytes: Uint8Array;
  /** Byte after the end marker of the extensions. */
  readonly extensionsEnd: number;
  readonly nameOffset: number;
  readonly nameLength: number;
}

export interface HeaderShape {
  /** Whether it has the table of feature names, which is only there for people. */
  readonly featureNames: boolean;
  /** Where the name of the backing file starts (default: after the extensions). */
  readonly nameOffset?: number | undefined;
}

interface Extension {
  type: number;
  data: Uint8Array;
}

const utf8 = new TextEncoder();
const encryptionMethod = { aes: 1, luks: 2 } as const;
const derived: readonly number[] = [
  extensionType.backingFormat,
  extensionType.dataFile,
  extensionType.featureNames,
];

/** The start of an image: header, extensions, end marker, name of the backing file. @throws BlockError when it does not fit */
export function encodeHeader(header: Qcow2Header, where: Where = { path: '' }): Uint8Array {
  const encoded = shapeHeader(header, { featureNames: true }) ?? shapeHeader(header, { featureNames: false });
  if (!encoded) throw tooLarge(header, where);
  return encoded.bytes;
}

export function tooLarge(header: Qcow2Header, where: Where): Error {
  const { clusterSize } = header;
  return unsupported(
    where,
    `the header with its extensions and the name of the backing file does not fit into the first cluster of ${clusterSize} bytes; use shorter names, or larger clusters`,
  );
}

/** Undefined when it does not fit into the first cluster that way. */
export function shapeHeader(header: Qcow2Header, shape: HeaderShape): EncodedHeader | undefined {
  checkFlags(header);
  const { version, clusterSize, backingFile } = header;
  const fixed = version === 2 ? headerBytes.v2 : knownHeaderBytes + header.unknownFields.length;
  const extensions = extensionsOf(header, shape.featureNames);
  let extensionsEnd = fixed + 8;
  for (const { data } of extensions) extensionsEnd += 8 + alignUp(data.length, 8);
  const name = utf8.encode(backingFile ?? '');
  const { nameOffset = extensionsEnd } = shape;
  const end = name.length > 0 ? nameOffset + name.length : extensionsEnd;
  const fits = extensionsEnd <= clusterSize && end <= clusterSize && name.length <= maxNameBytes;
  if (!fits || (name.length > 0 && nameOffset < extensionsEnd)) return undefined;
  const bytes = new Uint8Array(end);
  encodeFields(viewOf(bytes), header, name.length > 0 ? nameOffset : 0, name.length);
  if (version === 3) bytes.set(header.unknownFields, knownHeaderBytes);
  let at = fixed;
  for (const { type, data } of extensions) {
    viewOf(bytes).setUint32(at, type);
    viewOf(bytes).setUint32(at + 4, data.length);
    bytes.set(data, at + 8);
    at += 8 + alignUp(data.length, 8);
  }
  if (name.length > 0) bytes.set(name, nameOffset);
  return { bytes, extensionsEnd, nameOffset, nameLength: name.length };
}

/** Last what may be left out and what grows: what changes often has its place in the first sector. */
function extensionsOf(header: Qcow2Header, featureNames: boolean): Extension[] {
  const { version, backingFile, backingFormat, dataFile } = header;
  const extensions: Extension[] = [];
  if (backingFile !== undefined && backingFormat !== undefined)
    extensions.push({ type: extensionType.backingFormat, data: utf8.encode(backingFormat) });
  const kept = header.extensions.filter(({ type }) => !derived.includes(type));
  const isBitmaps = ({ type }: Extension) => type === extensionType.bitmaps;
  extensions.push(...kept.filter(isBitmaps));
  if (dataFile !== undefined) extensions.push({ type: extensionType.dataFile, data: utf8.encode(dataFile) });
  extensions.push(...kept.filter((one) => !isBitmaps(one)));
  if (featureNames && version === 3)
    extensions.push({ type: extensionType.featureNames, data: encodeFeatureNames(header.featureNames) });
  return extensions;
}

function encodeFields(view: DataView, header: Qcow2Header, nameOffset: number, nameLength: number): void {
  const wide = (at: number, value: number) => view.setBigUint64(at, BigInt(value));
  view.setUint32(0, magic);
  view.setUint32(4, header.version);
  wide(8, nameOffset);
  view.setUint32(16, nameLength);
  view.setUint32(20, header.clusterBits);
  wide(24, header.size);
  view.setUint32(32, header.encryption ? encryptionMethod[header.encryption] : 0);
  view.setUint32(36, header.l1Size);
  wide(40, header.l1TableOffset);
  wide(48, header.refcountTableOffset);
  view.setUint32(56, header.refcountTableClusters);
  view.setUint32(60, header.snapshotCount);
  wide(64, header.snapshotsOffset);
  if (header.version === 2) return;
  view.setBigUint64(72, header.incompatibleFeatures);
  view.setBigUint64(80, header.compatibleFeatures);
  view.setBigUint64(88, header.autoclearFeatures);
  view.setUint32(96, Math.log2(header.refcountBits));
  view.setUint32(100, knownHeaderBytes + header.unknownFields.length);
  view.setUint8(104, header.compressionType === 'zstd' ? 1 : 0);
}
