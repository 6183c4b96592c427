import { badOption, type Where } from '../failure.ts';
import { maxTableBytes } from '../tables.ts';
import type { NewImage } from './new-image.ts';

/** Where the parts of a new image are, in the order of the file; the header is cluster 0. */
export interface Layout {
  readonly refcountTable: { readonly offset: number; readonly clusters: number };
  /** One after another. */
  readonly refcountBlocks: { readonly offset: number; readonly count: number };
  readonly l1: { readonly offset: number; readonly entries: number };
  /** One after another, if the disk is mapped. */
  readonly l2: { readonly offset: number; readonly entries: number };
  /** Where the disk's first cluster is; 0 with an external data file. */
  readonly dataOffset: number;
  /** Clusters that are in use, from the start of the file. */
  readonly usedClusters: number;
  /** Bytes of the file. */
  readonly end: number;
}

/** How much of everything a disk of this size needs. */
export interface Needs {
  readonly dataClusters: number;
  readonly l2Tables: number;
  readonly l1Clusters: number;
}

/** @throws BlockError ERR_INVALID_OPTION for a disk that is too large for its clusters */
export function needsOf(image: NewImage, where: Where): Needs {
  const { size, clusterSize, extendedL2 } = image;
  const dataClusters = Math.ceil(size / clusterSize);
  const l2Tables = Math.ceil(dataClusters / (clusterSize / (extendedL2 ? 16 : 8)));
  if (l2Tables * 8 > maxTableBytes.l1) {
    const most = (maxTableBytes.l1 / 8) * (clusterSize / (extendedL2 ? 16 : 8)) * clusterSize;
    throw badOption(
      where,
      `size is ${size} bytes, and with clusters of ${clusterSize} the most is ${most}; choose a larger clusterSize`,
    );
  }
  return { dataClusters, l2Tables, l1Clusters: Math.ceil((l2Tables * 8) / clusterSize) };
}

/** Refcount blocks, and clusters of the table of them, that count `clusters` and themselves. */
export function refcountNeeds(
  clusters: number,
  { clusterSize, refcountBits }: Pick<NewImage, 'clusterSize' | 'refcountBits'>,
): { blocks: number; tableClusters: number } {
  const perBlock = (clusterSize * 8) / refcountBits;
  let blocks = 0;
  let tableClusters = 1;
  for (;;) {
    const needed = Math.max(1, Math.ceil((clusters + blocks + tableClusters) / perBlock));
    if (needed === blocks) return { blocks, tableClusters };
    blocks = needed;
    tableClusters = Math.ceil((blocks * 8) / clusterSize);
  }
}

/** Whether every cluster of the disk has its place from the start. A raw data file says where by itself. */
export const isMapped = ({ preallocation, dataFileRaw }: NewImage): boolean =>
  preallocation !== 'off' || dataFileRaw;

/** @throws BlockError ERR_INVALID_OPTION for a disk that is too large for its clusters */
export function layOut(image: NewImage, where: Where): Layout {
  const { clusterSize, dataFile } = image;
  const { dataClusters, l2Tables, l1Clusters } = needsOf(image, where);
  const mapped = isMapped(image);
  const ownData = mapped && dataFile === undefined ? dataClusters : 0;
  const others = 1 + l1Clusters + (mapped ? l2Tables : 0) + ownData;
  const { blocks, tableClusters } = refcountNeeds(others, image);
  const usedClusters = others + blocks + tableClusters;
  if (
    tableClusters * clusterSize > maxTableBytes.refcount ||
    !Number.isSafeInteger(usedClusters * clusterSize)
  ) {
    throw badOption(
      where,
      `with preallocation the file would have ${usedClusters} clusters of ${clusterSize} bytes, more than can be counted; choose a larger clusterSize`,
    );
  }
  const blocksAt = 1 + tableClusters;
  const l1At = blocksAt + blocks;
  const l2At = l1At + l1Clusters;
  const dataAt = l2At + l2Tables;
  return {
    refcountTable: { offset: clusterSize, clusters: tableClusters },
    refcountBlocks: { offset: blocksAt * clusterSize, count: blocks },
    l1: { offset: l2Tables === 0 ? 0 : l1At * clusterSize, entries: l2Tables },
    l2: { offset: l2At * clusterSize, entries: mapped ? dataClusters : 0 },
    dataOffset: dataFile === undefined ? dataAt * clusterSize : 0,
    usedClusters,
    end: mapped ? usedClusters * clusterSize : l1At * clusterSize + l2Tables * 8,
  };
}
