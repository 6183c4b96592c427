import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { corrupt } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { readTable, refcountTable } from '../tables.ts';
import { type RefcountCodec, refcountCodec } from '../write/refcount-codec.ts';

/** Blocks that are kept: neighbours are asked for one after another. */
const mostKept = 16;

/** The reference counts of an image that nobody else changes, as they are in the file. */
export class StoredCounts {
  readonly perBlock: number;
  /** Places of the blocks; 0 where there is none. */
  readonly blocks: Float64Array;
  readonly #codec: RefcountCodec;
  readonly #file: BlockNode;
  readonly #clusterSize: number;
  readonly #kept = new Map<number, DataView>();

  private constructor(file: BlockNode, header: Qcow2Header, blocks: Float64Array) {
    this.#file = file;
    this.#clusterSize = header.clusterSize;
    this.#codec = refcountCodec(header.refcountBits);
    this.perBlock = (header.clusterSize * 8) / header.refcountBits;
    this.blocks = blocks;
  }

  static async read(file: BlockNode, header: Qcow2Header): Promise<StoredCounts> {
    const table = viewOf(await readTable(file, refcountTable(header)));
    const blocks = new Float64Array(table.byteLength / 8);
    for (let i = 0; i < blocks.length; i++) {
      const offset = table.getUint32(i * 8) * 2 ** 32 + table.getUint32(i * 8 + 4);
      if (offset % header.clusterSize !== 0 || offset + header.clusterSize > alignedSize(file, header))
        throw corrupt(file, `the refcount block ${i} at ${offset} is not a cluster of the file`, offset);
      blocks[i] = offset;
    }
    return new StoredCounts(file, header, blocks);
  }

  async get(cluster: number): Promise<number> {
    const index = Math.floor(cluster / this.perBlock);
    const view = await this.#block(index);
    return view ? this.#codec.get(view, cluster % this.perBlock) : 0;
  }

  /** Every cluster from `from` and before `to` with a count that is not zero, in order. */
  async each(from: number, to: number, visit: (cluster: number, count: number) => void): Promise<void> {
    const { perBlock, blocks } = this;
    for (let index = Math.floor(from / perBlock); index < blocks.length && index * perBlock < to; index++) {
      const view = await this.#block(index);
      if (!view) continue;
      const first = index * perBlock;
      for (let i = Math.max(0, from - first); i < Math.min(perBlock, to - first); i++) {
        const count = this.#codec.get(view, i);
        if (count !== 0) visit(first + i, count);
      }
    }
  }

  /** Changes a count where it is. */
  async add(cluster: number, delta: number): Promise<void> {
    const index = Math.floor(cluster / this.perBlock);
    const view = await this.#block(index);
    const at = cluster % this.perBlock;
    const count = (view ? this.#codec.get(view, at) : 0) + delta;
    if (!view || count < 0 || count > this.#codec.max)
      throw corrupt(this.#file, `the refcount of cluster ${cluster} cannot become ${count}`);
    this.#codec.set(view, at, count);
    const start = Math.floor(at / ((this.perBlock * 512) / this.#clusterSize)) * 512;
    const bytes = new Uint8Array(view.buffer, view.byteOffset + start, 512);
    await this.#file.write((this.blocks[index] as number) + start, bytes);
  }

  async #block(index: number): Promise<DataView | undefined> {
    const offset = this.blocks[index];
    if (!offset) return undefined;
    const kept = this.#kept.get(index);
    if (kept) return kept;
    const bytes = new Uint8Array(this.#clusterSize);
    await this.#file.read(offset, bytes);
    const view = viewOf(bytes);
    if (this.#kept.size >= mostKept) this.#kept.delete(this.#kept.keys().next().value as number);
    this.#kept.set(index, view);
    return view;
  }
}

/** A last cluster may be short in the file. */
const alignedSize = (file: BlockNode, { clusterSize }: Qcow2Header): number =>
  Math.ceil(file.size / clusterSize) * clusterSize;
