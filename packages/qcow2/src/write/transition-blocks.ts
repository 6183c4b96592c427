import type { BlockNode, MaybePromise } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { corrupt } from '../failure.ts';
import { RefcountTable } from './refcount-table.ts';

interface Block {
  view: DataView;
  /** Has a cluster of its own and differs from what is there. */
  dirty: boolean;
  /** Waits for a cluster of its own: it cannot leave. */
  pinned: boolean;
}

/** What the blocks need of the transition that they are changed in. */
export interface BlocksHost {
  /** A free cluster for a block that was at `previous`, and is not needed there afterwards; 0 where there was none. */
  place(previous: number): Promise<number>;
  write(what: string, offset: number, bytes: Uint8Array): Promise<void>;
}

const budget = 16 << 20;
const nothing = { index: -1, view: undefined };

/**
 * Refcount blocks before and after a transition. A block that is to change is first given a place of its own. Only so
 * many are kept in memory.
 */
export class TransitionBlocks {
  readonly #file: BlockNode;
  readonly #clusterSize: number;
  readonly #before: RefcountTable;
  readonly #host: BlocksHost;
  /** Offsets of the blocks as they will be. */
  readonly #now: number[] = [];
  readonly #changed = new Set<number>();
  readonly #kept = new Map<number, Block>();
  readonly #most: number;
  /** The block of before that was asked for last, where it is another than now. */
  #last: { index: number; view: DataView | undefined } = nothing;
  /** One of those that are kept: most questions are about the same one as before. */
  #recent: { index: number; view: DataView | undefined } = nothing;

  constructor(file: BlockNode, clusterSize: number, table: Uint8Array, host: BlocksHost) {
    this.#file = file;
    this.#clusterSize = clusterSize;
    this.#before = new RefcountTable(0, table.slice());
    this.#host = host;
    this.#most = Math.max(4, Math.floor(budget / clusterSize));
    for (let i = 0; i < this.#before.length; i++) this.#now.push(this.#before.at(i));
    while (this.#now.at(-1) === 0) this.#now.pop();
  }

  /** One more than the index of the last block that there is. */
  get length(): number {
    return this.#now.length;
  }

  has(index: number): boolean {
    return index < this.#now.length && this.#now[index] !== 0;
  }

  get changed(): boolean {
    return this.#changed.size > 0;
  }

  isChanged(index: number): boolean {
    return this.#changed.has(index);
  }

  /** Where the blocks were that have another place now. */
  replaced(): Set<number> {
    return new Set([...this.#changed].map((index) => this.#before.at(index)).filter((offset) => offset > 0));
  }

  /** The block as it will be, not to be changed; undefined where there is none. */
  now(index: number): MaybePromise<DataView | undefined> {
    if (index === this.#recent.index) return this.#recent.view;
    const kept = this.#kept.get(index);
    if (kept) {
      this.#recent = { index, view: kept.view };
      return kept.view;
    }
    const offset = this.#now[index] ?? 0;
    if (offset === 0) return undefined;
    return this.#keep(index, offset);
  }

  /** The block as it was; undefined where there was none. */
  before(index: number): MaybePromise<DataView | undefined> {
    if (!this.#changed.has(index)) return this.now(index);
    if (this.#last.index === index) return this.#last.view;
    const offset = this.#before.at(index);
    if (offset === 0) return undefined;
    return this.#read(offset).then((view) => {
      this.#last = { index, view };
      return view;
    });
  }

  /** The block to be changed at once, if it is here and has its own place. */
  changing(index: number): DataView | undefined {
    const kept = this.#kept.get(index);
    if (!kept || !this.#changed.has(index)) return undefined;
    kept.dirty = true;
    return kept.view;
  }

  /** The block to be changed before anything else is asked for. */
  async change(index: number): Promise<DataView> {
    if (!this.#changed.has(index)) {
      const previous = this.#before.at(index);
      const view = (await this.now(index)) ?? viewOf(new Uint8Array(this.#clusterSize));
      const block = { view, dirty: true, pinned: true };
      this.#kept.set(index, block);
      this.#changed.add(index);
      this.#last = { index, view: previous === 0 ? undefined : viewOf(copyOf(view)) };
      while (this.#now.length <= index) this.#now.push(0);
      this.#now[index] = await this.#host.place(previous);
      block.pinned = false;
      return block.view;
    }
    await this.now(index);
    return this.changing(index) as DataView;
  }

  /** Writes what is in memory only. */
  async store(): Promise<void> {
    for (const [index, block] of this.#kept) await this.#write(index, block);
  }

  /** The new table. */
  tableBytes(length: number): Uint8Array {
    const table = new RefcountTable(0, new Uint8Array(length));
    for (const [index, offset] of this.#now.entries()) table.set(index, offset);
    return table.bytes();
  }

  async #keep(index: number, offset: number): Promise<DataView> {
    for (const [old, block] of this.#kept) {
      if (this.#kept.size < this.#most) break;
      if (block.pinned) continue;
      await this.#write(old, block);
      this.#kept.delete(old);
      if (old === this.#recent.index) this.#recent = nothing;
    }
    const view = await this.#read(offset);
    this.#kept.set(index, { view, dirty: false, pinned: false });
    return view;
  }

  async #write(index: number, block: Block): Promise<void> {
    if (!block.dirty) return;
    await this.#host.write('a new refcount block', this.#now[index] as number, bytesOf(block.view));
    block.dirty = false;
  }

  /** What the end of the file cuts off is zeroes. */
  async #read(offset: number): Promise<DataView> {
    const { size } = this.#file;
    if (offset % this.#clusterSize !== 0 || offset >= size)
      throw corrupt(this.#file, `there is no refcount block at ${offset}`, offset);
    const bytes = new Uint8Array(this.#clusterSize);
    await this.#file.read(offset, bytes.subarray(0, Math.min(bytes.length, size - offset)));
    return viewOf(bytes);
  }
}

const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const copyOf = (view: DataView): Uint8Array => bytesOf(view).slice();
