import type { BlockNode } from '@blockyard/core';
import type { Allocator } from './allocator.ts';
import type { Generations } from './generations.ts';
import type { Refcounts } from './refcounts.ts';

/** Why a cluster was given up: QEMU tells apart for which reasons the file below is told. */
export type Why = 'request' | 'snapshot' | 'other';

export interface Released {
  offset: number;
  clusters: number;
  why: Why;
}

export interface ReclaimerInit {
  file: BlockNode;
  refcounts: Refcounts;
  allocator: Allocator;
  generations: Generations;
  /** Whether the file below is to give back the storage. */
  passes: Readonly<Record<Why, boolean>>;
}

/**
 * Clusters that lost a reference. Their counts go down only after a commit made the loss durable, and after everybody
 * who found them before has left: until then nobody else may have them.
 */
export class Reclaimer {
  readonly #init: ReclaimerInit;
  #waiting: Released[] = [];
  #waitingClusters = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(init: ReclaimerInit) {
    this.#init = init;
  }

  get waiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Clusters that wait for a commit. */
  get waitingClusters(): number {
    return this.#waitingClusters;
  }

  /** Whether the file below is told of clusters that were given up for this reason. */
  passes(why: Why): boolean {
    return this.#init.passes[why];
  }

  release(offset: number, clusters: number, why: Why): void {
    const last = this.#waiting.at(-1);
    this.#waitingClusters += clusters;
    if (last?.why === why && last.offset + last.clusters * this.#init.refcounts.clusterSize === offset)
      last.clusters += clusters;
    else this.#waiting.push({ offset, clusters, why });
  }

  /** What a commit that begins now makes durable. */
  take(): Released[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#waitingClusters = 0;
    return taken;
  }

  /** The commit failed. */
  kept(taken: readonly Released[]): void {
    for (const { offset, clusters, why } of taken) this.release(offset, clusters, why);
  }

  /** The commit is done. Goes on by itself; `settled` waits for it. */
  reclaim(taken: readonly Released[]): void {
    if (taken.length === 0) return;
    const passed = this.#init.generations.passed();
    this.#running = this.#running.then(async () => {
      await passed;
      // What cannot be given back is leaked, which does no harm and which a check finds.
      for (const one of taken) await this.#giveBack(one).catch(() => {});
    });
  }

  settled(): Promise<void> {
    return this.#running;
  }

  async #giveBack({ offset, clusters, why }: Released): Promise<void> {
    const { refcounts, allocator, passes } = this.#init;
    const { clusterSize } = refcounts;
    if (passes[why]) await this.#discard(offset, clusters);
    for (let i = 0; i < clusters; i++) {
      const cluster = offset / clusterSize + i;
      const left = refcounts.change(cluster, -1);
      if ((left instanceof Promise ? await left : left) === 0) allocator.freed(cluster);
    }
  }

  /** Tells the file below of those that nothing else refers to, while they still count as in use. */
  async #discard(offset: number, clusters: number): Promise<void> {
    const { file, refcounts, allocator } = this.#init;
    const { clusterSize } = refcounts;
    const first = offset / clusterSize;
    let start = first;
    for (let at = first; at <= first + clusters; at++) {
      const sole = at < first + clusters && (await refcounts.get(at)) === 1;
      if (sole) {
        // Compressed data might come to lie in what is left of it.
        allocator.abandoned(at);
        continue;
      }
      const end = Math.min(at * clusterSize, file.size);
      if (at > start && end > start * clusterSize)
        await Promise.resolve(file.discard(start * clusterSize, end - start * clusterSize)).catch(() => {});
      start = at + 1;
    }
  }
}
