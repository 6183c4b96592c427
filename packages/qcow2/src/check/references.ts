import type { Counts } from './counts.ts';
import type { Report } from './report.ts';

/** Counts what the image refers to, as far as it lies within the file. */
export class References {
  readonly counts: Counts;
  readonly #report: Report;
  readonly #clusterSize: number;
  readonly fileSize: number;

  constructor(counts: Counts, report: Report, clusterSize: number, fileSize: number) {
    this.counts = counts;
    this.#report = report;
    this.#clusterSize = clusterSize;
    this.fileSize = fileSize;
  }

  /** Every cluster that the bytes touch. @returns false when they are past the end of the file: that is told */
  range(offset: number, length: number, times: number, what: () => string): boolean {
    if (length === 0) return true;
    if (!this.isThere(offset, length, times, what)) return false;
    this.add(offset, length, times);
    return true;
  }

  /** Whether the bytes are in the file, but for the end of their last cluster; it is told when not. */
  isThere(offset: number, length: number, times: number, what: () => string): boolean {
    if (offset < this.fileSize && offset + length - this.fileSize < this.#clusterSize) return true;
    this.#report.corruption(
      times,
      () => `${what()} at ${offset} lies past the end of the file (${this.fileSize} bytes)`,
    );
    return false;
  }

  add(offset: number, length: number, times: number): void {
    const last = Math.floor((offset + length - 1) / this.#clusterSize);
    for (let cluster = Math.floor(offset / this.#clusterSize); cluster <= last; cluster++)
      this.counts.add(cluster, times);
  }
}
