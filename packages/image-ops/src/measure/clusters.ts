import { alignDown, alignUp } from '@blockyard/core';

/** Counts the clusters that ranges of a disk, told in rising order, lie in. */
export class ClusterCount {
  readonly #clusterSize: number;
  #end = 0;
  /** Of whole clusters. */
  bytes = 0;

  constructor(clusterSize: number) {
    this.#clusterSize = clusterSize;
  }

  add(offset: number, length: number): void {
    const from = Math.max(this.#end, alignDown(offset, this.#clusterSize));
    this.#end = Math.max(from, alignUp(offset + length, this.#clusterSize));
    this.bytes += this.#end - from;
  }
}
