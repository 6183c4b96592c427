import { safe64, textOf, viewOf } from './bytes.ts';
import { extensionType, type HeaderExtension, parseExtensions } from './extensions.ts';
import { invalid, unsupported, type Where } from './failure.ts';
import {
  autoclear,
  compatible,
  type FeatureName,
  hasBit,
  incompatible,
  parseFeatureNames,
  unknownIncompatible,
} from './features.ts';

export const magic = 0x514649fb;
/** Bytes of a version 2 header, and of the part of version 3's that every image has. */
export const headerBytes = { v2: 72, v3: 104 } as const;
/** Bytes of a version 3 header that are known here: the compression type is in the last eight. */
export const knownHeaderBytes = 112;
export const maxNameBytes = 1023;

export type Encryption = 'aes' | 'luks';

/** The header of an image and its extensions, checked field by field but not against the size of the file. */
export interface Qcow2Header {
  version: 2 | 3;
  headerLength: number;
  /** Fields after those known here, which whoever writes the header leaves as they are. */
  unknownFields: Uint8Array;
  /** Bytes of the disk. */
  size: number;
  clusterBits: number;
  clusterSize: number;
  encryption: Encryption | undefined;
  l1Size: number;
  l1TableOffset: number;
  refcountTableOffset: number;
  refcountTableClusters: number;
  refcountBits: number;
  snapshotCount: number;
  snapshotsOffset: number;
  incompatibleFeatures: bigint;
  compatibleFeatures: bigint;
  autoclearFeatures: bigint;
  dirty: boolean;
  corrupt: boolean;
  lazyRefcounts: boolean;
  extendedL2: boolean;
  compressionType: 'zlib' | 'zstd';
  externalData: boolean;
  /** The external data file is a raw image of the disk by itself. */
  rawExternalData: boolean;
  backingFile: string | undefined;
  backingFormat: string | undefined;
  dataFile: string | undefined;
  featureNames: FeatureName[];
  /** Every extension, known or not, as it is stored. */
  extensions: HeaderExtension[];
}

/** The start of the header, which says how much of the file holds the rest of it. */
export function parseClusterBits(head: Uint8Array, where: Where): { version: 2 | 3; clusterBits: number } {
  const view = viewOf(head);
  if (head.length < headerBytes.v2) {
    throw invalid(
      where,
      `the file has ${head.length} bytes, fewer than the ${headerBytes.v2} of a qcow2 header: it is cut short or not complete`,
      0,
    );
  }
  if (view.getUint32(0) !== magic) {
    throw invalid(
      where,
      'the file does not begin as a qcow2 image does; give its real format, or probe: true to guess it',
      0,
    );
  }
  const version = view.getUint32(4);
  if (version !== 2 && version !== 3) {
    throw unsupported(where, `qcow2 version ${version} is not supported; versions 2 and 3 are`);
  }
  const clusterBits = view.getUint32(20);
  if (clusterBits < 9 || clusterBits > 21) {
    throw invalid(where, `cluster_bits is ${clusterBits}; clusters have 2^9 to 2^21 bytes`, 20);
  }
  return { version, clusterBits };
}

/**
 * "Header". `head` is the first cluster of the file, or as much of it as there is.
 * @throws BlockError ERR_INVALID_IMAGE, ERR_UNSUPPORTED_FEATURE, EFBIG
 */
export function parseHeader(head: Uint8Array, where: Where = { path: '' }): Qcow2Header {
  const { version, clusterBits } = parseClusterBits(head, where);
  const view = viewOf(head);
  const clusterSize = 2 ** clusterBits;
  const wide = (at: number, what: string) => safe64(view, at, what, where);
  const v3 = version === 3 ? parseVersion3(head, clusterSize, where) : version2;
  const backingOffset = wide(8, 'backing_file_offset');
  const backingLength = view.getUint32(16);
  const extensionsEnd = Math.min(head.length, clusterSize, backingOffset === 0 ? clusterSize : backingOffset);
  const extensions = parseExtensions(head, v3.headerLength, extensionsEnd, where);
  const data = (type: number) => extensions.find((extension) => extension.type === type)?.data;
  const text = (type: number) => {
    const bytes = data(type);
    return bytes === undefined ? undefined : textOf(bytes);
  };
  const featureNames = parseFeatureNames(data(extensionType.featureNames) ?? new Uint8Array(0));
  const unknown = unknownIncompatible(v3.incompatible, featureNames);
  if (unknown.length > 0) {
    throw unsupported(
      where,
      `it uses ${unknown.join(', ')}, which this version does not know; open it with what wrote it`,
    );
  }
  const externalData = hasBit(v3.incompatible, incompatible.externalData);
  return {
    version,
    headerLength: v3.headerLength,
    unknownFields: head.slice(knownHeaderBytes, Math.max(knownHeaderBytes, v3.headerLength)),
    size: wide(24, 'the size of the disk'),
    clusterBits,
    clusterSize,
    encryption: parseEncryption(view.getUint32(32), where),
    l1Size: view.getUint32(36),
    l1TableOffset: wide(40, 'l1_table_offset'),
    refcountTableOffset: wide(48, 'refcount_table_offset'),
    refcountTableClusters: view.getUint32(56),
    refcountBits: 2 ** v3.refcountOrder,
    snapshotCount: view.getUint32(60),
    snapshotsOffset: wide(64, 'snapshots_offset'),
    incompatibleFeatures: v3.incompatible,
    compatibleFeatures: v3.compatible,
    autoclearFeatures: v3.autoclear,
    dirty: hasBit(v3.incompatible, incompatible.dirty),
    corrupt: hasBit(v3.incompatible, incompatible.corrupt),
    lazyRefcounts: hasBit(v3.compatible, compatible.lazyRefcounts),
    extendedL2: parseExtendedL2(v3.incompatible, clusterBits, where),
    compressionType: parseCompressionType(v3.compressionType, v3.incompatible, where),
    externalData,
    rawExternalData: externalData && hasBit(v3.autoclear, autoclear.rawExternalData),
    backingFile: parseBackingName(head, backingOffset, backingLength, v3.headerLength, clusterSize, where),
    backingFormat: text(extensionType.backingFormat) || undefined,
    dataFile: text(extensionType.dataFile) || undefined,
    featureNames,
    extensions,
  };
}

const version2 = {
  headerLength: headerBytes.v2 as number,
  incompatible: 0n,
  compatible: 0n,
  autoclear: 0n,
  refcountOrder: 4,
  compressionType: 0,
};

function parseVersion3(head: Uint8Array, clusterSize: number, where: Where): typeof version2 {
  if (head.length < headerBytes.v3) {
    throw invalid(
      where,
      `the file has ${head.length} bytes, fewer than the ${headerBytes.v3} of a version 3 header`,
      0,
    );
  }
  const view = viewOf(head);
  const headerLength = view.getUint32(100);
  const most = Math.min(clusterSize, head.length);
  if (headerLength < headerBytes.v3 || headerLength % 8 !== 0 || headerLength > most) {
    throw invalid(
      where,
      `header_length is ${headerLength}; it must be a multiple of 8 from ${headerBytes.v3} to ${most}`,
      100,
    );
  }
  const refcountOrder = view.getUint32(96);
  if (refcountOrder > 6)
    throw invalid(where, `refcount_order is ${refcountOrder}; the most is 6 (64 bits)`, 96);
  return {
    headerLength,
    incompatible: view.getBigUint64(72),
    compatible: view.getBigUint64(80),
    autoclear: view.getBigUint64(88),
    refcountOrder,
    compressionType: headerLength > headerBytes.v3 ? view.getUint8(104) : 0,
  };
}

function parseEncryption(method: number, where: Where): Encryption | undefined {
  if (method === 0) return undefined;
  if (method === 1) return 'aes';
  if (method === 2) return 'luks';
  throw unsupported(where, `the encryption method ${method} is not known`);
}

function parseExtendedL2(features: bigint, clusterBits: number, where: Where): boolean {
  const extended = hasBit(features, incompatible.extendedL2);
  if (extended && clusterBits < 14) {
    throw invalid(
      where,
      `extended L2 entries need clusters of at least 16 KiB, and cluster_bits is ${clusterBits}`,
      20,
    );
  }
  return extended;
}

function parseCompressionType(type: number, features: bigint, where: Where): 'zlib' | 'zstd' {
  if (type > 1)
    throw unsupported(where, `the compression type ${type} is not known; zlib (0) and zstd (1) are`);
  // The bit says that the field must be understood, so it stands exactly where the field is not the default.
  if (hasBit(features, incompatible.compressionType) !== (type !== 0)) {
    throw invalid(
      where,
      `the compression type is ${type}, which the incompatible feature bit 3 contradicts`,
      104,
    );
  }
  return type === 0 ? 'zlib' : 'zstd';
}

function parseBackingName(
  head: Uint8Array,
  offset: number,
  length: number,
  headerLength: number,
  clusterSize: number,
  where: Where,
): string | undefined {
  if (offset === 0) return undefined;
  if (length > maxNameBytes)
    throw invalid(where, `the name of the backing file has ${length} bytes; the most is ${maxNameBytes}`, 16);
  if (offset < headerLength || offset + length > Math.min(clusterSize, head.length)) {
    throw invalid(
      where,
      `the name of the backing file (${length} bytes at ${offset}) is not within the first cluster`,
      8,
    );
  }
  return length === 0 ? undefined : textOf(head.subarray(offset, offset + length));
}
