import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import type { Qcow2Header } from '../header.ts';
import { type RefcountCodec, refcountCodec } from '../write/refcount-codec.ts';
import { ClusterSet } from './cluster-set.ts';
import { type Chunk, readPieces, readRange } from './read-ahead.ts';
import type { References } from './references.ts';
import type { Report } from './report.ts';

/** A refcount block that can be used, and the place in the refcount table that leads to it. */
interface Block {
  index: number;
  offset: number;
}

/** The refcounts as the file has them: "Host cluster management". */
export class RefcountStructure {
  readonly codec: RefcountCodec;
  /** Clusters that one block counts. */
  readonly perBlock: number;
  readonly #file: BlockNode;
  readonly #header: Qcow2Header;
  readonly #report: Report;
  /** Offsets by index of the table, as far as it has entries that lead to a block. */
  readonly #blocks = new Map<number, number>();
  /** Places of blocks that several entries lead to: what they count for the second is not believed. */
  readonly #taken = new ClusterSet();
  /** Entries that lead to a cluster of the file, in their order. */
  readonly #counted: number[] = [];
  #tableThere = false;

  constructor(file: BlockNode, header: Qcow2Header, report: Report) {
    this.#file = file;
    this.#header = header;
    this.#report = report;
    this.codec = refcountCodec(header.refcountBits);
    this.perBlock = (header.clusterSize * 8) / header.refcountBits;
  }

  /** Offsets of all blocks, sound or not, in the file. */
  get counted(): readonly number[] {
    return this.#counted;
  }

  get tableThere(): boolean {
    return this.#tableThere;
  }

  /** Whether an entry of the refcount table takes it for a block. */
  isBlock(cluster: number): boolean {
    return this.#taken.has(cluster);
  }

  /** Whether there is a block for the cluster. */
  counts(cluster: number): boolean {
    return this.#blocks.has(Math.floor(cluster / this.perBlock));
  }

  /** Reads the table, before anything is counted. */
  async readTable(signal: AbortSignal | undefined): Promise<void> {
    const { refcountTableOffset, refcountTableClusters, clusterSize } = this.#header;
    const size = refcountTableClusters * clusterSize;
    const there = Math.min(size, Math.max(0, this.#file.size - refcountTableOffset));
    if (there === 0) return;
    await readRange(this.#file, refcountTableOffset, there, signal, ({ offset, bytes, error }) => {
      if (error !== undefined) {
        this.#report.needsRebuild = true;
        this.#report.checkError(() => `the refcount table could not be read at ${offset}: ${String(error)}`);
        return;
      }
      const view = viewOf(bytes);
      for (let at = 0; at + 8 <= bytes.length; at += 8) {
        const hi = view.getUint32(at);
        const lo = view.getUint32(at + 4);
        if (hi !== 0 || lo !== 0) this.#entry((offset - refcountTableOffset + at) / 8, hi, lo);
      }
    });
  }

  #entry(index: number, hi: number, lo: number): void {
    const { clusterSize } = this.#header;
    const offset = hi * 2 ** 32 + ((lo & 0xfffffe00) >>> 0);
    const wrong = (text: string) =>
      this.#report.structureError(() => `entry ${index} of the refcount table ${text}`);
    if (lo & 511) wrong('has reserved bits set');
    if (offset % clusterSize !== 0) return wrong(`leads to ${offset}, which is not the start of a cluster`);
    if (offset >= this.#file.size)
      return wrong(`leads to ${offset}, past the end of the file (${this.#file.size} bytes)`);
    this.#counted.push(offset);
    const cluster = offset / clusterSize;
    if (this.#taken.has(cluster)) return;
    this.#taken.add(cluster);
    this.#blocks.set(index, offset);
  }

  /** After everything else was counted: a block that anything else lies on is of no use. */
  count(
    references: References,
    isTable: (range: { offset: number; length: number; times: number }) => void,
  ): void {
    const { clusterSize, refcountTableOffset, refcountTableClusters } = this.#header;
    const table = { offset: refcountTableOffset, length: refcountTableClusters * clusterSize, times: 1 };
    this.#tableThere = references.range(table.offset, table.length, 1, () => 'the refcount table');
    if (this.#tableThere) isTable(table);
    else this.#report.needsRebuild = true;
    for (const offset of this.#counted) {
      references.counts.add(offset / clusterSize, 1);
      const count = references.counts.get(offset / clusterSize);
      if (count === 1) continue;
      this.#report.structureError(() => `the refcount block at ${offset} is in use ${count} times`);
    }
  }

  /** The clusters that the file counts once. */
  async readSole(signal: AbortSignal | undefined, onProgress?: (bytes: number) => void): Promise<ClusterSet> {
    const sole = new ClusterSet();
    const { codec, perBlock } = this;
    await this.readBlocks(
      signal,
      (index, { offset, bytes, zero, error }) => {
        if (zero) return;
        if (error !== undefined) {
          this.#blocks.delete(index);
          this.#report.needsRebuild = true;
          this.#report.checkError(
            () => `the refcount block at ${offset} could not be read: ${String(error)}`,
          );
          return;
        }
        const view = viewOf(bytes);
        const first = index * perBlock;
        for (let i = 0; i < perBlock; i++) if (codec.get(view, i) === 1) sole.add(first + i);
      },
      onProgress,
    );
    return sole;
  }

  /** The blocks that count clusters within the file, in the order of the file. */
  async readBlocks(
    signal: AbortSignal | undefined,
    visit: (index: number, block: Chunk) => void | Promise<void>,
    onProgress?: (bytes: number) => void,
  ): Promise<void> {
    const { clusterSize } = this.#header;
    const blocks = this.useful();
    let at = 0;
    await readPieces(
      this.#file,
      Float64Array.from(blocks, ({ offset }) => offset),
      clusterSize,
      signal,
      (piece) => visit((blocks[at++] as Block).index, piece),
      onProgress,
    );
  }

  /** Blocks for clusters past the end of the file count nothing that matters: there could be a million of them. */
  useful(): Block[] {
    const end = Math.ceil(this.#file.size / this.#header.clusterSize / this.perBlock);
    const found: Block[] = [];
    for (const [index, offset] of this.#blocks) if (index < end) found.push({ index, offset });
    return found.sort((a, b) => a.offset - b.offset);
  }
}
