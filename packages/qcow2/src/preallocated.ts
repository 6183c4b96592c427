import type { BlockNode, Extent, MaybePromise } from '@blockyard/core';
import type { Qcow2Header } from './header.ts';
import { countUsedClusters } from './used-clusters.ts';

/** Extents of the file that are looked at before deciding. */
const mostAsked = 64;

/**
 * Whether many more clusters are in use than the file has bytes for: they were assigned without being written
 * (preallocation=metadata), and read as zeroes though they are data. QEMU decides likewise, by the file's blocks. An
 * ordinary image is dense: then this is one question, and no data cluster costs another.
 */
export function looksPreallocated(header: Qcow2Header, file: BlockNode): MaybePromise<boolean> {
  if (!file.supports.blockStatus) return false;
  const answer = new Survey(header, file).go();
  // What cannot be found out is not claimed: the clusters are told as data, which they are.
  return answer instanceof Promise ? answer.catch(() => false) : answer;
}

class Survey {
  readonly #header: Qcow2Header;
  readonly #file: BlockNode;
  #asked = 0;
  #seen = 0;
  #holes = 0;

  constructor(header: Qcow2Header, file: BlockNode) {
    this.#header = header;
    this.#file = file;
  }

  go(): MaybePromise<boolean> {
    const { size } = this.#file;
    while (this.#asked < mostAsked && this.#seen < size) {
      const extent = this.#file.blockStatus(this.#seen, size - this.#seen);
      if (extent instanceof Promise) {
        return extent.then((told) => {
          this.#count(told);
          return this.go();
        });
      }
      this.#count(extent);
    }
    const { clusterSize } = this.#header;
    const dense = Math.floor((size * (1 - this.#holes / this.#seen)) / clusterSize);
    const enough = Math.max(Math.floor((dense * 10) / 9), dense + 2);
    if (Math.ceil(size / clusterSize) < enough) return false;
    return countUsedClusters(this.#header, this.#file, enough).then((used) => used >= enough);
  }

  #count(extent: Extent): void {
    this.#asked++;
    this.#seen += extent.length;
    if (extent.zero) this.#holes += extent.length;
  }
}
