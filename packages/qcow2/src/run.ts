/** What an L2 entry, or a subcluster's two bits of it, say. */
export const kinds = {
  /** Nothing here: look in the backing image. */
  unallocated: 0,
  /** The same, but the cluster has a place in the file already. */
  unallocatedPlaced: 1,
  zero: 2,
  /** Reads as zeroes, and has a place in the file all the same. */
  zeroPlaced: 3,
  data: 4,
  compressed: 5,
} as const;

export type Kind = (typeof kinds)[keyof typeof kinds];

/** Bytes of one kind that follow one another, in the disk and, where they have a place, in the file. */
export interface Run {
  kind: Kind;
  length: number;
  /** Where the first byte is in the file; for compressed clusters where their data starts; meaningless without a place. */
  host: number;
  /** For `compressed`: bytes from `host` that may belong to the cluster. */
  stored: number;
  /** For `compressed`: where in the cluster the run starts. */
  inCluster: number;
}

export const newRun = (): Run => ({ kind: kinds.unallocated, length: 0, host: 0, stored: 0, inCluster: 0 });

export const hasPlace = (kind: Kind): boolean =>
  kind === kinds.data || kind === kinds.zeroPlaced || kind === kinds.unallocatedPlaced;

export const readsBacking = (kind: Kind): boolean =>
  kind === kinds.unallocated || kind === kinds.unallocatedPlaced;

/** Adds `next` to `run` when it goes on where `run` ends. Compressed clusters never join: each is read by itself. */
export function join(run: Run, next: Run): boolean {
  if (next.kind !== run.kind || run.kind === kinds.compressed) return false;
  if (hasPlace(run.kind) && next.host !== run.host + run.length) return false;
  run.length += next.length;
  return true;
}
