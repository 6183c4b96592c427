import { headerBytes, knownHeaderBytes, type Qcow2Header } from '../header.ts';
import { withFlags } from '../write/header-flags.ts';
import type { Layout } from './layout.ts';
import type { NewImage } from './new-image.ts';

export function newHeader(image: NewImage, layout: Layout): Qcow2Header {
  const { version, size, clusterSize, refcountBits, backing, dataFile } = image;
  const plain: Qcow2Header = {
    version,
    headerLength: version === 2 ? headerBytes.v2 : knownHeaderBytes,
    unknownFields: new Uint8Array(0),
    size,
    clusterBits: Math.log2(clusterSize),
    clusterSize,
    encryption: undefined,
    l1Size: layout.l1.entries,
    l1TableOffset: layout.l1.offset,
    refcountTableOffset: layout.refcountTable.offset,
    refcountTableClusters: layout.refcountTable.clusters,
    refcountBits,
    snapshotCount: 0,
    snapshotsOffset: 0,
    incompatibleFeatures: 0n,
    compatibleFeatures: 0n,
    autoclearFeatures: 0n,
    dirty: false,
    corrupt: false,
    lazyRefcounts: false,
    extendedL2: false,
    compressionType: 'zlib',
    externalData: false,
    rawExternalData: false,
    backingFile: backing?.name,
    backingFormat: backing?.format,
    dataFile,
    featureNames: [],
    extensions: [],
  };
  const { lazyRefcounts, extendedL2, compressionType, dataFileRaw } = image;
  const externalData = dataFile !== undefined;
  const flags = { lazyRefcounts, extendedL2, compressionType, externalData, rawExternalData: dataFileRaw };
  return { ...plain, ...withFlags(plain, flags) };
}
