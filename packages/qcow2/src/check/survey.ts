import { alignDown, alignUp, type BlockNode } from '@blockyard/core';
import { readBitmaps } from '../bitmaps.ts';
import { safe64, viewOf } from '../bytes.ts';
import { extensionType } from '../extensions.ts';
import type { Qcow2Header } from '../header.ts';
import { copiedFlag, entryOffset } from '../table-entry.ts';
import { maxTableBytes } from '../tables.ts';
import { ClusterSet } from './cluster-set.ts';
import { Counts } from './counts.ts';
import { copiedText, L2Walk } from './l2-walk.ts';
import { Overlaps } from './overlaps.ts';
import type { Progress } from './progress.ts';
import { readPieces, readRange } from './read-ahead.ts';
import { RefcountStructure } from './refcount-structure.ts';
import { References } from './references.ts';
import type { Report } from './report.ts';
import { disjoint, type Range } from './segments.ts';
import { readSnapshotEntries } from './snapshot-tables.ts';

/** Clusters per page where few of them count: there is one L2 table for thousands of clusters of data. */
const sparse = 256;

/** One walk over all metadata of an image: what refers to what, and what contradicts itself. */
export class Survey {
  readonly header: Qcow2Header;
  readonly report: Report;
  readonly structure: RefcountStructure;
  readonly counts = new Counts();
  /** How often each cluster is referred to as an L2 table; and that by the disk as it is now. */
  readonly l2Tables = new Counts(sparse);
  readonly activeL2Tables = new Counts(sparse);
  /** Clusters whose refcount in the file is 1. */
  sole = new ClusterSet();
  readonly #file: BlockNode;
  readonly #references: References;
  readonly #signal: AbortSignal | undefined;
  readonly #progress: Progress;
  /** Counted together: a hostile image has very many of them at one place. */
  readonly #tables: Range[] = [];
  readonly #overlaps: Overlaps;

  constructor(
    file: BlockNode,
    header: Qcow2Header,
    report: Report,
    progress: Progress,
    signal?: AbortSignal,
  ) {
    this.header = header;
    this.report = report;
    this.#file = file;
    this.#signal = signal;
    this.#progress = progress;
    this.structure = new RefcountStructure(file, header, report);
    this.#references = new References(this.counts, report, header.clusterSize, file.size);
    this.#overlaps = new Overlaps(header.clusterSize);
  }

  async walk(): Promise<void> {
    const { header, structure, report } = this;
    await structure.readTable(this.#signal);
    const blockBytes = structure.useful().length * header.clusterSize;
    this.#progress.expect(2 * blockBytes);
    this.sole = await structure.readSole(this.#signal, this.#progress.add);
    this.#references.range(0, header.clusterSize, 1, () => 'the header');
    this.#isTable({ offset: 0, length: header.clusterSize, times: 1 }, () => 'the header');
    await this.#walkL1Tables(await this.#l1Tables());
    await this.#walkL2Tables();
    this.#countEncryption();
    await this.#countBitmaps();
    for (const range of disjoint(this.#tables)) {
      this.#references.add(range.offset, range.length, range.times);
      this.#overlaps.add(range);
    }
    structure.count(this.#references, (range) => this.#isTable(range, () => 'the refcount table'));
    this.#overlaps.tell(this, report);
  }

  #isTable(range: Pick<Range, 'offset' | 'length' | 'times'>, what: () => string): void {
    this.#overlaps.add(range);
    this.#overlaps.isAlone(range.offset, range.length);
    this.#overlaps.name(range.offset, range.length, what);
  }

  /** The L1 tables of the disk as it is now and of its snapshots, as far as they are there. */
  async #l1Tables(): Promise<Range[]> {
    const { header, report } = this;
    const tables: Range[] = [];
    const add = (offset: number, size: number, active: number, what: () => string) => {
      const length = size * 8;
      if (this.#table(offset, length, what)) tables.push({ offset, length, times: 1, active });
    };
    add(header.l1TableOffset, header.l1Size, 1, () => 'the L1 table');
    if (tables.length > 0) this.#overlaps.isAlone(header.l1TableOffset, header.l1Size * 8);
    if (header.snapshotCount === 0) return tables;
    if (header.snapshotsOffset >= this.#file.size) {
      report.incomplete = true;
      report.corruption(
        1,
        () => `the snapshot table at ${header.snapshotsOffset} lies past the end of the file`,
      );
      return tables;
    }
    const { entries, length } = await readSnapshotEntries(header, this.#file);
    if (this.#table(header.snapshotsOffset, length, () => 'the snapshot table'))
      this.#overlaps.isAlone(header.snapshotsOffset, length);
    for (const { name, l1Offset, l1Size, extraBytes } of entries) {
      const what = () => `the L1 table of snapshot ${name}`;
      if (header.version === 3 && extraBytes < 16)
        report.corruption(1, () => `snapshot ${name} has ${extraBytes} bytes of extra data; the least is 16`);
      if (l1Offset % header.clusterSize !== 0 || l1Size * 8 > maxTableBytes.l1) {
        report.incomplete = true;
        report.corruption(
          1,
          () => `${what()} (${l1Size} entries at ${l1Offset}) is too large or not at a cluster`,
        );
      } else add(l1Offset, l1Size, 0, what);
    }
    return tables;
  }

  /** Counts a table that must be in the file as a whole. @returns whether it can be read */
  #table(offset: number, length: number, what: () => string): boolean {
    const { report, header } = this;
    if (length === 0) return false;
    const there = this.#references.isThere(offset, length, 1, what);
    if (there) {
      const start = alignDown(offset, header.clusterSize);
      const whole = alignUp(offset + length, header.clusterSize) - start;
      this.#tables.push({ offset: start, length: whole, times: 1, active: 0 });
      this.#overlaps.name(start, whole, what);
    }
    if (there && offset + length > this.#file.size)
      report.corruption(
        1,
        () => `${what()} at ${offset} goes on past the end of the file (${this.#file.size} bytes)`,
      );
    if (offset + length > this.#file.size) report.incomplete = true;
    if (offset < header.clusterSize && there) {
      report.incomplete = true;
      report.corruption(1, () => `${what()} is at ${offset}, where the header is`);
      return false;
    }
    return there;
  }

  async #walkL1Tables(tables: readonly Range[]): Promise<void> {
    const ranges = disjoint(tables);
    for (const { length } of ranges) this.#progress.expect(length);
    for (const range of ranges) {
      const led = new Counts(sparse);
      await this.#readEntries(
        range,
        'a part of an L1 table',
        (at, hi, lo) => this.#l1Entry(at, hi, lo, range, led),
        (bytes) => this.#progress.add(bytes),
      );
    }
  }

  /** Every entry of 64 bits that is not 0; the byte of the file where it is. */
  async #readEntries(
    { offset, length }: Range,
    what: string,
    visit: (at: number, hi: number, lo: number) => void,
    onRead?: (bytes: number) => void,
  ): Promise<void> {
    await readRange(this.#file, offset, length, this.#signal, ({ offset: start, bytes, zero, error }) => {
      onRead?.(bytes.length);
      if (zero) return;
      if (error !== undefined) {
        this.report.checkError(() => `${what} could not be read at ${start}: ${String(error)}`);
        return;
      }
      const view = viewOf(bytes);
      for (let at = 0; at + 8 <= bytes.length; at += 8) {
        const hi = view.getUint32(at);
        const lo = view.getUint32(at + 4);
        if (hi !== 0 || lo !== 0) visit(start + at, hi, lo);
      }
    });
  }

  /** `led`: L2 tables that other entries of the table lead to. */
  #l1Entry(at: number, hi: number, lo: number, { times, active }: Range, led: Counts): void {
    const { report } = this;
    const { clusterSize } = this.header;
    const what = () => `the L1 entry at ${at}`;
    if (hi & 0x7f000000 || lo & 511) report.corruption(times, () => `${what()} has reserved bits set`);
    const offset = entryOffset(hi, lo);
    if (offset === 0) return;
    const cluster = Math.floor(offset / clusterSize);
    const there = this.#references.range(offset, clusterSize, times, () => `the L2 table of ${what()}`);
    if (offset % clusterSize !== 0) {
      report.incomplete = true;
      report.corruption(times, () => `${what()} leads to ${offset}, which is not the start of a cluster`);
    } else if (there) {
      if (led.get(cluster) > 0)
        report.corruption(times, () => `${what()} leads to the L2 table of another entry, at ${offset}`);
      led.add(cluster, 1);
      this.l2Tables.add(cluster, times);
      if (active > 0) this.activeL2Tables.add(cluster, active);
      if (offset + clusterSize > this.#file.size) {
        report.incomplete = true;
        report.corruption(times, () => `the L2 table at ${offset} goes on past the end of the file`);
      }
    } else report.incomplete = true;
    if (active > 0 && this.sole.has(cluster) !== hi >= copiedFlag)
      report.flagError(active, () => `${what()} ${copiedText(hi)}`);
  }

  async #walkL2Tables(): Promise<void> {
    const { clusterSize } = this.header;
    const walk = new L2Walk(this.header, this.report, this.#references, this.sole, this.#overlaps);
    const offsets = this.l2Tables.offsets(clusterSize);
    this.#progress.expect(offsets.length * clusterSize);
    await readPieces(
      this.#file,
      offsets,
      clusterSize,
      this.#signal,
      ({ offset, bytes, zero, error }) => {
        if (zero) return;
        if (error !== undefined) {
          this.report.checkError(() => `the L2 table at ${offset} could not be read: ${String(error)}`);
          return;
        }
        const cluster = offset / clusterSize;
        walk.walk(offset, bytes, this.l2Tables.get(cluster), this.activeL2Tables.get(cluster));
      },
      this.#progress.add,
    );
  }

  /** "Full disk encryption header pointer". */
  #countEncryption(): void {
    const extension = this.header.extensions.find(({ type }) => type === extensionType.encryption);
    if (!extension || extension.data.length < 16) return;
    const view = viewOf(extension.data);
    const offset = safe64(view, 0, 'the offset of the encryption header', this.#file);
    const length = safe64(view, 8, 'the length of the encryption header', this.#file);
    this.#table(offset, length, () => 'the encryption header');
  }

  async #countBitmaps(): Promise<void> {
    const bitmaps = await readBitmaps(this.header, this.#file);
    const extension = this.header.extensions.find(({ type }) => type === extensionType.bitmaps);
    if (bitmaps.length === 0 || !extension) return;
    const view = viewOf(extension.data);
    const length = safe64(view, 8, 'the size of the bitmap directory', this.#file);
    const directory = safe64(view, 16, 'the offset of the bitmap directory', this.#file);
    this.#table(directory, length, () => 'the bitmap directory');
    const tables: Range[] = [];
    for (const { name, tableOffset, tableSize } of bitmaps) {
      const what = () => `the table of bitmap '${name}'`;
      if (tableOffset % this.header.clusterSize !== 0) {
        this.report.incomplete = true;
        this.report.corruption(1, () => `${what()} at ${tableOffset} does not start at a cluster`);
      } else if (this.#table(tableOffset, tableSize * 8, what))
        tables.push({ offset: tableOffset, length: tableSize * 8, times: 1, active: 0 });
    }
    for (const range of disjoint(tables))
      await this.#readEntries(range, 'a bitmap table', (at, hi, lo) => this.#bitmapEntry(at, hi, lo, range));
  }

  /** "Bitmap table": bit 0 says what a part that is not stored is filled with. */
  #bitmapEntry(at: number, hi: number, lo: number, { times }: Range): void {
    const { clusterSize } = this.header;
    const offset = entryOffset(hi, lo);
    const reserved = hi & 0xff000000 || lo & (offset === 0 ? 0x1fe : 0x1ff);
    if (reserved || offset % clusterSize !== 0) {
      this.report.incomplete = true;
      this.report.corruption(times, () => `the entry at ${at} of a bitmap table is not valid`);
    } else if (offset !== 0)
      this.#references.range(offset, clusterSize, times, () => `the data of the bitmap table entry at ${at}`);
  }
}
