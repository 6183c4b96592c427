const mostNarrow = 0xffff;

type Page = Uint16Array | Float64Array;
const noPage = new Uint16Array(0);

/**
 * How often each cluster is referred to. Pages are made when something in them is counted: what it takes follows from
 * what the image refers to, not from what it claims. A page becomes wider when one of its counts needs it.
 */
export class Counts {
  /** Clusters that one page counts. */
  readonly pageClusters: number;
  readonly #pages = new Map<number, Page>();
  /** The page used last, and its first cluster: the next is mostly in it, too. */
  #last: Page = noPage;
  #lastFirst = 0;

  constructor(pageClusters = 1 << 15) {
    this.pageClusters = pageClusters;
  }

  get(cluster: number): number {
    const at = cluster - this.#lastFirst;
    if (at >= 0 && at < this.#last.length) return this.#last[at] as number;
    return this.#turnTo(cluster) ? (this.#last[cluster - this.#lastFirst] as number) : 0;
  }

  add(cluster: number, times: number): void {
    let at = cluster - this.#lastFirst;
    if (at < 0 || at >= this.#last.length) {
      if (!this.#turnTo(cluster)) this.#put(cluster, new Uint16Array(this.pageClusters));
      at = cluster - this.#lastFirst;
    }
    const count = (this.#last[at] as number) + times;
    if (count > mostNarrow && this.#last instanceof Uint16Array)
      this.#put(cluster, Float64Array.from(this.#last));
    this.#last[at] = count;
  }

  /** Indices of the pages that there are, ascending. */
  pages(): number[] {
    return [...this.#pages.keys()].sort((a, b) => a - b);
  }

  /** The clusters that have a count, ascending. */
  *used(): Generator<number> {
    for (const index of this.pages()) {
      const page = this.#pages.get(index) as Page;
      for (let i = 0; i < page.length; i++) if (page[i] !== 0) yield index * page.length + i;
    }
  }

  /** Byte offsets of the clusters that have a count, ascending. */
  offsets(clusterSize: number): Float64Array {
    let count = 0;
    for (const page of this.#pages.values()) for (let i = 0; i < page.length; i++) if (page[i] !== 0) count++;
    const found = new Float64Array(count);
    let next = 0;
    for (const cluster of this.used()) found[next++] = cluster * clusterSize;
    return found;
  }

  /** The last cluster that has a count; -1 when there is none. */
  last(): number {
    for (const index of this.pages().reverse()) {
      const page = this.#pages.get(index) as Page;
      for (let i = page.length - 1; i >= 0; i--) if (page[i] !== 0) return index * page.length + i;
    }
    return -1;
  }

  #turnTo(cluster: number): boolean {
    const index = Math.floor(cluster / this.pageClusters);
    const page = this.#pages.get(index);
    if (page === undefined) return false;
    this.#last = page;
    this.#lastFirst = index * this.pageClusters;
    return true;
  }

  #put(cluster: number, page: Page): void {
    this.#pages.set(Math.floor(cluster / this.pageClusters), page);
    this.#turnTo(cluster);
  }
}
