import { alignDown, type BlockNode } from '@blockyard/core';
import { corrupt, truncated } from '../failure.ts';
import type { Image } from '../image.ts';
import type { Slice } from '../metadata-cache.ts';
import { zeroFlag } from '../table-entry.ts';
import { type Entries, subclusters } from './entries.ts';

/** How bytes that are written come to the file. */
export const ways = {
  /** Into clusters that are mapped already: no table changes. */
  inPlace: 0,
  /** Into clusters that have their place, which a table has to show afterwards. */
  own: 1,
  /** Into new clusters. */
  fresh: 2,
} as const;

export interface Plan {
  way: (typeof ways)[keyof typeof ways];
  /** Bytes of the request that go this way in a row. */
  length: number;
  clusters: number;
  /** For `inPlace` and `own`: where the first byte goes. */
  host: number;
}

export const newPlan = (): Plan => ({ way: ways.fresh, length: 0, clusters: 0, host: 0 });

/** Finds out how the start of a write is done, looking at the entries of one slice. */
export class Planner {
  readonly #image: Image;
  readonly #entries: Entries;
  readonly #data: BlockNode;

  constructor(image: Image, entries: Entries) {
    this.#image = image;
    this.#entries = entries;
    this.#data = image.data;
  }

  fill(plan: Plan, slice: Slice, offset: number, length: number): void {
    const { clusterSize } = this.#entries;
    const first = this.#entries.index(offset);
    const left = this.#entries.left(slice, first);
    const inCluster = offset % clusterSize;
    const end = inCluster + length;
    plan.way = this.#way(slice, first, inCluster, Math.min(end, clusterSize));
    plan.host = this.#entries.place(slice, first) + inCluster;
    if (plan.way !== ways.fresh) this.#check(plan.host, offset);
    let clusters = 1;
    while (clusters < left && clusters * clusterSize < end) {
      const index = first + clusters;
      const stop = Math.min(clusterSize, end - clusters * clusterSize);
      if (this.#way(slice, index, 0, stop) !== plan.way) break;
      if (plan.way !== ways.fresh) {
        const host = this.#entries.place(slice, index);
        if (host !== plan.host - inCluster + clusters * clusterSize) break;
        this.#check(host, offset + clusters * clusterSize - inCluster);
      }
      clusters++;
    }
    plan.clusters = clusters;
    plan.length = Math.min(length, clusters * clusterSize - inCluster);
  }

  #way(slice: Slice, index: number, from: number, to: number): Plan['way'] {
    const entries = this.#entries;
    if (!entries.isPlaced(slice, index) || !entries.isCopied(slice, index)) return ways.fresh;
    if (!entries.extended) return entries.lo(slice, index) & zeroFlag ? ways.own : ways.inPlace;
    const wanted = unitMask(from, to, entries.unit);
    return (entries.allocated(slice, index) & wanted) >>> 0 === wanted ? ways.inPlace : ways.own;
  }

  /** A cluster that the image placed must be a possible one, whatever made the image. */
  #check(host: number, offset: number): void {
    const { header, file } = this.#image;
    const cluster = alignDown(host, 512);
    const inCluster = offset % header.clusterSize;
    if ((host - inCluster) % header.clusterSize !== 0)
      throw corrupt(
        file,
        `the entry for ${offset} places it at ${cluster}, which is not the start of a cluster`,
        offset,
      );
    if (header.externalData) {
      if (header.rawExternalData && host !== offset)
        throw corrupt(file, `the entry for ${offset} places it at ${host} of a raw data file`, offset);
      return;
    }
    if (host - inCluster >= this.#data.size)
      throw truncated(file, `the data for ${offset}`, host, this.#data.size);
  }
}

/** The bits of the subclusters that the bytes from `from` to `to` of a cluster touch. */
export function unitMask(from: number, to: number, unit: number): number {
  const first = Math.floor(from / unit);
  const end = Math.ceil(to / unit);
  const low = first === 0 ? 0 : 2 ** first - 1;
  const all = end === subclusters ? 0xffffffff : 2 ** end - 1;
  return (all - low) >>> 0;
}
