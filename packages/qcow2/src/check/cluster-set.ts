const pageClusters = 1 << 18;
const noPage = new Uint8Array(0);

/** A set of clusters, a bit each, in pages that are made when they are needed. */
export class ClusterSet {
  readonly #pages = new Map<number, Uint8Array>();
  #last: Uint8Array = noPage;
  #lastFirst = 0;

  has(cluster: number): boolean {
    if (!this.#turnTo(cluster)) return false;
    const at = cluster - this.#lastFirst;
    return (((this.#last[at >>> 3] as number) >>> (at & 7)) & 1) === 1;
  }

  add(cluster: number): void {
    if (!this.#turnTo(cluster)) {
      this.#pages.set(Math.floor(cluster / pageClusters), new Uint8Array(pageClusters / 8));
      this.#turnTo(cluster);
    }
    const at = cluster - this.#lastFirst;
    this.#last[at >>> 3] = (this.#last[at >>> 3] as number) | (1 << (at & 7));
  }

  #turnTo(cluster: number): boolean {
    const at = cluster - this.#lastFirst;
    if (at >= 0 && at < this.#last.length * 8) return true;
    const index = Math.floor(cluster / pageClusters);
    const page = this.#pages.get(index);
    if (page === undefined) return false;
    this.#last = page;
    this.#lastFirst = index * pageClusters;
    return true;
  }
}
