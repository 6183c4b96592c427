import type { RequestOptions } from '@blockyard/core';
import type { Qcow2Header } from '../header.ts';
import type { Image } from '../image.ts';
import type { Why } from './reclaimer.ts';
import { TransitionRefcounts } from './transition-refcounts.ts';

/** What the header says after a transition. An L1 table that is not given stays as it is. */
export interface Outcome {
  header: Partial<Qcow2Header>;
  l1?: { offset: number; bytes: Uint8Array } | undefined;
}

/**
 * A change of many tables at once that a power cut finds done or not begun. All tables that differ are written to
 * clusters that nothing uses; then one sector of the header switches to them, and what only the old ones used is free.
 * Nothing of the open image is changed before the switch: when something fails until then, there is nothing to undo.
 */
export class Transition {
  readonly image: Image;
  readonly counts: TransitionRefcounts;
  readonly #signal: AbortSignal | undefined;

  /** Does `work` alone: the tables in the file are those in memory meanwhile. */
  static run<T>(
    image: Image,
    options: RequestOptions,
    work: (transition: Transition) => Promise<T>,
  ): Promise<T> {
    return image.exclusive(async () => {
      const transition = new Transition(image, options);
      try {
        return await work(transition);
      } catch (error) {
        // Clusters past the old end of the file may have been written, and are free.
        image.allocator.restart(transition.counts.reached);
        throw error;
      }
    });
  }

  private constructor(image: Image, options: RequestOptions = {}) {
    this.image = image;
    this.#signal = options.signal;
    const write = (what: string, offset: number, bytes: Uint8Array) => this.write(what, offset, bytes);
    this.counts = new TransitionRefcounts(image.file, image.header, image.refcounts.tableBytes(), write);
  }

  /** One more, to be done right after this one. */
  next(): Transition {
    return new Transition(this.image, { signal: this.#signal });
  }

  /** Called between steps of a long work: ends it when the caller wants that. */
  checkSignal(): void {
    this.#signal?.throwIfAborted();
  }

  /** A table in new clusters of its own. */
  async add(what: string, bytes: Uint8Array): Promise<number> {
    this.checkSignal();
    const { clusterSize } = this.image.header;
    const offset = await this.counts.allocate(Math.ceil(bytes.length / clusterSize));
    await this.write(what, offset, bytes);
    return offset;
  }

  async write(what: string, offset: number, bytes: Uint8Array): Promise<void> {
    await this.image.writeTable(what, offset, bytes);
  }

  /** Bytes of the disk, in clusters that nothing leads to yet. */
  async writeData(offset: number, bytes: Uint8Array): Promise<void> {
    await this.image.reach(offset + bytes.length);
    await this.image.data.write(offset, bytes);
  }

  /** Makes it happen. `why` tells whether the storage of what became free is given back. */
  async finish({ header: change, l1 }: Outcome, why: Why): Promise<void> {
    const { image, counts } = this;
    const { refcountTableOffset, refcountTableClusters, clusterSize } = image.header;
    const old = { offset: refcountTableOffset, clusters: refcountTableClusters };
    const table = counts.changed ? await counts.store(old) : undefined;
    if (table) await this.write('the new refcount table', table.offset, table.bytes);
    this.checkSignal();
    await image.file.flush();
    if (image.data !== image.file) await image.data.flush();
    await image.updateHeader({
      ...change,
      ...(table && {
        refcountTableOffset: table.offset,
        refcountTableClusters: table.bytes.length / clusterSize,
      }),
      ...(l1 && { l1TableOffset: l1.offset, l1Size: l1.bytes.length / 8 }),
    });
    image.reload({ ...(l1 && { l1 }), ...(table && { refcountTable: table }), reached: counts.reached });
    // It is done, whatever cannot be read back: what is not known is not watched.
    await image.learnAreas().catch(() => image.forgetAreas());
    // Storage that is not given back is only storage.
    if (table) await this.#giveBack(why).catch(() => {});
  }

  /** What is free now can be used again, and its storage is given back to the file below, if that is wanted. */
  async #giveBack(why: Why): Promise<void> {
    const { file, allocator, reclaimer, header } = this.image;
    const discards = reclaimer.passes(why);
    for await (const { offset, length } of this.counts.freed()) {
      for (let at = offset; at < offset + length; at += header.clusterSize)
        allocator.freed(at / header.clusterSize);
      const have = Math.min(length, file.size - offset);
      if (discards && have > 0) await file.discard(offset, have);
    }
  }
}
