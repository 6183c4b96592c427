import { type BlockNode, inParallel, type MaybePromise } from '@blockyard/core';
import type { L1Table } from '../l1.ts';
import type { MetadataCache } from '../metadata-cache.ts';
import { Batch } from './batch.ts';
import { Lock } from './lock.ts';
import type { Reclaimer } from './reclaimer.ts';
import type { Refcounts } from './refcounts.ts';

export interface CommitterInit {
  file: BlockNode;
  data: BlockNode;
  l1: L1Table;
  /** Where the active L1 table is now. */
  l1Offset(): number;
  cache: MetadataCache;
  refcounts: Refcounts;
  reclaimer: Reclaimer;
  /** @throws where nothing may be written any more */
  ready(): MaybePromise<void>;
  /** Makes `file` long enough. */
  reach(end: number): MaybePromise<void>;
}

/**
 * Writes metadata back in the order that survives a power cut at any moment: counts before the mapping that needs
 * them, data before the mapping that shows it, and what lost its mapping is given up only after that is durable.
 * Copies are taken at the start, so that requests go on changing tables meanwhile.
 */
export class Committer {
  readonly #init: CommitterInit;
  readonly #lock = new Lock();
  #next: Promise<void> | undefined;

  constructor(init: CommitterInit) {
    this.#init = init;
  }

  get dirty(): boolean {
    const { cache, l1, refcounts, reclaimer } = this.#init;
    return cache.dirty || l1.dirty || refcounts.cache.dirty || refcounts.table.dirty || reclaimer.waiting;
  }

  get running(): boolean {
    return this.#lock.held;
  }

  /** When it settles, all that was done before the call is durable. Who asks while one is running shares the next. */
  commit(): MaybePromise<void> {
    if (this.#lock.held) {
      this.#next ??= this.#lock.run(() => {
        this.#next = undefined;
        return this.#run();
      });
      return this.#next;
    }
    return this.dirty ? this.#lock.run(() => this.#run()) : this.#flush();
  }

  /** Runs `work` while no commit does. */
  between<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.run(work);
  }

  async #run(): Promise<void> {
    const { file, l1, cache, refcounts, reclaimer } = this.#init;
    // Who had the lock before may have found damage, or failed to change the header.
    await this.#init.ready();
    const released = reclaimer.take();
    const slices = cache.take();
    const counts = refcounts.cache.take();
    const entries = refcounts.table.take();
    const sectors = l1.take();
    const at = this.#init.l1Offset();
    const batches: Batch[] = [];
    const batch = (pieces: { offset: number; bytes: Uint8Array }[]) => {
      const made = new Batch(file, pieces);
      batches.push(made);
      return made;
    };
    try {
      const first = batch(counts);
      const second = batch(
        entries.map((entry) => ({ offset: refcounts.table.offset + entry.at, bytes: entry.bytes })),
      );
      const third = batch([
        ...slices,
        ...sectors.map((sector) => ({ offset: at + sector.at, bytes: sector.bytes })),
      ]);
      // The file may have ended within a refcount block.
      await this.#init.reach(first.end);
      await first.write();
      await this.#flush();
      for (const later of [second, third]) {
        if (later.empty) continue;
        await later.write();
        await file.flush();
      }
    } catch (error) {
      cache.kept(slices);
      refcounts.cache.kept(counts);
      refcounts.table.kept(entries);
      l1.kept(sectors);
      reclaimer.kept(released);
      throw error;
    } finally {
      for (const made of batches) made.release();
    }
    cache.written(slices);
    refcounts.cache.written(counts);
    reclaimer.reclaim(released);
  }

  #flush(): MaybePromise<void> {
    const { file, data } = this.#init;
    return data === file ? file.flush() : inParallel([file, data], 2, (one) => one.flush());
  }
}
