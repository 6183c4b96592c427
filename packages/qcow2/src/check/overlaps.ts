import { Counts } from './counts.ts';
import type { Report } from './report.ts';
import type { Range } from './segments.ts';
import type { Survey } from './survey.ts';

/** Clusters per page: tables lie apart. */
const sparse = 256;

/** Where the tables are, by cluster, so that what else lies there can be told from them. */
export class Overlaps {
  readonly #clusterSize: number;
  readonly #named: { offset: number; length: number; what: () => string }[] = [];
  /** How often a cluster is referred to as one of these tables, L2 tables and refcount blocks apart. */
  readonly #tables = new Counts(sparse);
  /** Of these, those that the header names: an image in which they overlap with a table is not opened. */
  readonly #alone = new Counts(sparse);
  /** References that do no harm there. */
  readonly #harmless = new Counts(sparse);

  constructor(clusterSize: number) {
    this.#clusterSize = clusterSize;
  }

  name(offset: number, length: number, what: () => string): void {
    this.#named.push({ offset, length, what });
  }

  add({ offset, length, times }: Pick<Range, 'offset' | 'length' | 'times'>): void {
    this.#count(this.#tables, offset, offset + length, times);
  }

  isAlone(offset: number, length: number): void {
    this.#count(this.#alone, offset, offset + length, 1);
  }

  /** What compressed data claims after its first cluster is more than it has, where a table is there. */
  tolerate(offset: number, length: number, times: number): void {
    const next = offset - (offset % this.#clusterSize) + this.#clusterSize;
    this.#count(this.#harmless, next, offset + length, times);
  }

  #count(counts: Counts, from: number, to: number, times: number): void {
    const end = Math.ceil(to / this.#clusterSize);
    for (let cluster = Math.floor(from / this.#clusterSize); cluster < end; cluster++)
      counts.add(cluster, times);
  }

  /**
   * Data in the place of a table, and L2 tables in that of others: no refcount puts it right, and reading refuses it.
   * After everything was counted but the refcount blocks, which move away from what lies on them.
   */
  tell({ counts, l2Tables, structure }: Survey, report: Report): void {
    const others = (cluster: number) =>
      counts.get(cluster) - this.#tables.get(cluster) - l2Tables.get(cluster) - this.#harmless.get(cluster);
    const tell = (cluster: number, times: number, kind: string, what: () => string) => {
      if (times <= 0 || structure.isBlock(cluster)) return;
      const text = () =>
        `cluster ${cluster} holds ${what()}, and ${times} ${times === 1 ? 'entry places' : 'entries place'} ${kind} there`;
      report.corruption(times, text);
    };
    for (const cluster of this.#tables.used()) {
      const what = () => this.#nameOf(cluster);
      if (this.#alone.get(cluster) > 0 && this.#tables.get(cluster) > 1)
        report.corruption(1, () => `cluster ${cluster} holds ${what()}, and another table is there`);
      tell(cluster, l2Tables.get(cluster), 'an L2 table', what);
      tell(cluster, others(cluster), 'data', what);
    }
    for (const cluster of l2Tables.used())
      if (this.#tables.get(cluster) === 0) tell(cluster, others(cluster), 'data', () => 'an L2 table');
  }

  #nameOf(cluster: number): string {
    const start = cluster * this.#clusterSize;
    const found = this.#named.find(
      ({ offset, length }) => offset < start + this.#clusterSize && start < offset + length,
    );
    return found?.what() ?? 'a table';
  }
}
