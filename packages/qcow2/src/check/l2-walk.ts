import { viewOf } from '../bytes.ts';
import { CompressedDescriptor } from '../descriptor.ts';
import type { Qcow2Header } from '../header.ts';
import { compressedFlag, copiedFlag, entryOffset } from '../table-entry.ts';
import type { ClusterSet } from './cluster-set.ts';
import type { Overlaps } from './overlaps.ts';
import type { References } from './references.ts';
import type { Report } from './report.ts';

/** "L2 table entry": bits 56 to 61, and 1 to 8. */
const reservedHigh = 0x3f000000;
const reservedLow = 0x1fe;

/** Larger numbers of clusters are not treated as 32-bit numbers. */
const mostPlainClusters = 2 ** 30;

/** Looks at every entry of an L2 table: what it refers to, and whether it says what it may. */
export class L2Walk {
  readonly #header: Qcow2Header;
  readonly #report: Report;
  readonly #references: References;
  /** Clusters whose refcount in the file is 1. */
  readonly #sole: ClusterSet;
  readonly #overlaps: Overlaps;
  readonly #descriptor: CompressedDescriptor;
  /** The cluster after that of the last entry that has one: where a table that is not fragmented goes on. */
  #next = 0;

  constructor(
    header: Qcow2Header,
    report: Report,
    references: References,
    sole: ClusterSet,
    overlaps: Overlaps,
  ) {
    this.#overlaps = overlaps;
    this.#header = header;
    this.#report = report;
    this.#references = references;
    this.#sole = sole;
    this.#descriptor = new CompressedDescriptor(header.clusterBits);
  }

  /** `times`: how often the table is referred to; `active`: of these by the disk as it is now. */
  walk(table: number, bytes: Uint8Array, times: number, active: number): void {
    const { clusterBits, clusterSize, externalData, extendedL2 } = this.#header;
    const { counts, fileSize } = this.#references;
    const view = viewOf(bytes);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
    const step = extendedL2 ? 4 : 2;
    // Nearly every entry is a place of data in the file, with no bit that needs a thought: these are kept to 32-bit
    // numbers, and this loop to what they need, so that it is fast soon.
    const plainEnd =
      extendedL2 || externalData ? 0 : Math.min(Math.ceil(fileSize / clusterSize), mostPlainClusters);
    const shift = 32 - clusterBits;
    const unusualHigh = 0x7fffffff & ~(2 ** (30 - shift) - 1);
    const unusualLow = clusterSize - 1;
    let allocated = 0;
    let fragmented = 0;
    this.#next = 0;
    for (let i = nextUsed(words, 0, step); i < words.length; i = nextUsed(words, i + step, step)) {
      const hi = view.getInt32(i * 4);
      const lo = view.getInt32(i * 4 + 4);
      const cluster = ((hi & ~unusualHigh & 0x7fffffff) << shift) | (lo >>> clusterBits);
      if ((hi & unusualHigh) !== 0 || (lo & unusualLow) !== 0 || cluster === 0 || cluster >= plainEnd) {
        this.#unusual(view, i * 4, table, times, active);
        continue;
      }
      allocated++;
      if (this.#next !== 0 && cluster !== this.#next) fragmented++;
      this.#next = cluster + 1;
      counts.add(cluster, times);
      if (active > 0 && this.#sole.has(cluster) !== hi < 0) this.#flagError(table, i * 4, hi >>> 0, active);
    }
    this.#report.allocatedClusters += allocated * active;
    this.#report.fragmentedClusters += fragmented * active;
  }

  #unusual(view: DataView, at: number, table: number, times: number, active: number): void {
    const { version, clusterSize, externalData, extendedL2 } = this.#header;
    const { counts, fileSize } = this.#references;
    const report = this.#report;
    const hi = view.getUint32(at);
    const lo = view.getUint32(at + 4);
    if (hi & compressedFlag) return this.#compressed(view, at, hi, lo, table, times, active);
    if (hi & reservedHigh || lo & reservedLow || (lo & 1 && version === 2))
      this.#flags(table, at, hi, lo, times);
    const offset = entryOffset(hi, lo);
    if (extendedL2) this.#checkBitmap(view, at, hi, offset, table, times);
    if (offset === 0 && !(externalData && hi >= copiedFlag && !(lo & 1))) return;
    // Not whole where it leads off a cluster: then nothing follows it.
    const cluster = offset / clusterSize;
    report.allocatedClusters += active;
    if (this.#next !== 0 && cluster !== this.#next) report.fragmentedClusters += active;
    this.#next = cluster + 1;
    if (!Number.isInteger(cluster) || (!externalData && offset >= fileSize))
      this.#misplaced(view, at, offset, table, times);
    else if (!externalData) counts.add(cluster, times);
    // The clusters of a data file belong to one disk alone.
    if (active > 0 && (externalData || this.#sole.has(Math.floor(cluster))) !== hi >= copiedFlag)
      this.#flagError(table, at, hi, active);
  }

  #compressed(
    view: DataView,
    at: number,
    hi: number,
    lo: number,
    table: number,
    times: number,
    active: number,
  ): void {
    const report = this.#report;
    if (hi >= copiedFlag)
      report.corruption(
        times,
        () => `${this.#entry(table, at)} is of compressed data and has the copied flag`,
      );
    if (this.#header.externalData) {
      report.corruption(
        times,
        () => `${this.#entry(table, at)} is compressed, which an image with a data file cannot have`,
      );
      return;
    }
    if (this.#header.extendedL2 && (view.getUint32(at + 8) | view.getUint32(at + 12)) !== 0)
      report.corruption(times, () => `${this.#entry(table, at)} is of compressed data and marks subclusters`);
    report.allocatedClusters += active;
    report.compressedClusters += active;
    report.fragmentedClusters += active;
    const offset = this.#descriptor.offset(hi, lo);
    const stored = this.#descriptor.stored(hi, lo);
    const what = () => `the compressed data of ${this.#entry(table, at)}`;
    if (this.#references.range(offset, stored, times, what)) this.#overlaps.tolerate(offset, stored, times);
  }

  #misplaced(view: DataView, at: number, offset: number, table: number, times: number): void {
    const { clusterSize, extendedL2, externalData } = this.#header;
    if (offset % clusterSize !== 0) {
      if (readsZero(view, at, extendedL2)) this.#report.misplacedZeroes++;
      this.#report.corruption(
        times,
        () => `${this.#entry(table, at)} leads to ${offset}, which is not the start of a cluster`,
      );
    }
    if (externalData) return;
    this.#references.range(offset, clusterSize, times, () => `the data of ${this.#entry(table, at)}`);
  }

  /** "Extended L2 Entries": a subcluster is not both allocated and zero, nor allocated without a place. */
  #checkBitmap(view: DataView, at: number, hi: number, offset: number, table: number, times: number): void {
    const zeroes = view.getUint32(at + 8);
    const allocated = view.getUint32(at + 12);
    const placed = offset !== 0 || (this.#header.externalData && hi >= copiedFlag);
    if (placed ? (zeroes & allocated) === 0 : allocated === 0) return;
    const problem = placed ? 'both allocated and zero' : 'allocated without a place';
    this.#report.corruption(times, () => `${this.#entry(table, at)} marks a subcluster ${problem}`);
  }

  #flags(table: number, at: number, hi: number, lo: number, times: number): void {
    if (hi & reservedHigh || lo & reservedLow)
      this.#report.corruption(times, () => `${this.#entry(table, at)} has reserved bits set: ${hex(hi, lo)}`);
    if (lo & 1 && this.#header.version === 2)
      this.#report.corruption(
        times,
        () => `${this.#entry(table, at)} has the zero flag, which version 2 has not`,
      );
  }

  #flagError(table: number, at: number, hi: number, active: number): void {
    this.#report.flagError(active, () => `${this.#entry(table, at)} ${copiedText(hi)}`);
  }

  #entry(table: number, at: number): string {
    return `entry ${at / (this.#header.extendedL2 ? 16 : 8)} of the L2 table at ${table}`;
  }
}

/** The next entry, of `step` words, that is not 0: so many are that they are looked at many at a time. */
function nextUsed(words: Uint32Array, from: number, step: number): number {
  let i = from;
  while (i + 8 <= words.length) {
    const any =
      (words[i] as number) |
      (words[i + 1] as number) |
      (words[i + 2] as number) |
      (words[i + 3] as number) |
      (words[i + 4] as number) |
      (words[i + 5] as number) |
      (words[i + 6] as number) |
      (words[i + 7] as number);
    if (any !== 0) break;
    i += 8;
  }
  while (i < words.length && words[i] === 0) i++;
  return i - (i % step);
}

/** How the copied flag of an entry contradicts the refcount of its cluster. */
export const copiedText = (hi: number): string =>
  hi >= copiedFlag
    ? 'has the copied flag, and the refcount is not 1'
    : 'has no copied flag, and the refcount is 1';

/** Whether all that the entry stands for reads as zeroes, wherever it leads. */
export function readsZero(view: DataView, at: number, extendedL2: boolean): boolean {
  if (!extendedL2) return (view.getUint32(at + 4) & 1) === 1;
  return view.getUint32(at + 8) === 0xffffffff && view.getUint32(at + 12) === 0;
}

const hex = (hi: number, lo: number): string =>
  `0x${(BigInt(hi) * 2n ** 32n + BigInt(lo)).toString(16).padStart(16, '0')}`;
