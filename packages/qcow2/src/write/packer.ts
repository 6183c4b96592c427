import { alignDown, alignUp } from '@blockyard/core';
import type { ClusterWatcher, Image } from '../image.ts';

/** Bytes that one write takes of what waits. */
const mostAtOnce = 1 << 20;

interface Item {
  bytes: Uint8Array;
  host: number;
  written(host: number): void;
  failed(error: unknown): void;
}

/** Items that lie one after the other in the file. */
interface Row {
  start: number;
  end: number;
  items: Item[];
}

/**
 * Puts compressed clusters into the file without gaps, sharing its clusters. What came while one write was under way
 * goes with the next; the block that two writes share is remembered, so that none has to read before it can write.
 */
export class Packer implements ClusterWatcher {
  readonly #image: Image;
  readonly #clusterSize: number;
  readonly #waiting: Item[] = [];
  #running = false;
  /** Where the next data can go on; at the start of a cluster there is no room. */
  #next = 0;
  /** The block in which the last write ended, as far as it went. */
  #tail: { offset: number; bytes: Uint8Array } | undefined;

  constructor(image: Image) {
    this.#image = image;
    this.#clusterSize = image.header.clusterSize;
    image.watch(this);
  }

  /** Resolves to where the bytes are, when they are there: every cluster of the file that they touch counts once more. */
  add(bytes: Uint8Array): Promise<number> {
    return new Promise((written, failed) => {
      this.#waiting.push({ bytes, host: 0, written, failed });
      if (!this.#running) void this.#run();
    });
  }

  /** What was added is not needed after all. */
  async giveBack(host: number, bytes: number): Promise<void> {
    const { allocator, refcounts } = this.#image;
    await refcounts.add(host, bytes, -1, (cluster) => allocator.freed(cluster));
  }

  freed(cluster: number): void {
    if (Math.floor(this.#next / this.#clusterSize) === cluster) this.reloaded();
  }

  reloaded(): void {
    this.#next = 0;
    this.#tail = undefined;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch: Item[] = [];
      for (let bytes = 0; this.#waiting.length > 0 && bytes < mostAtOnce; ) {
        const item = this.#waiting.shift() as Item;
        batch.push(item);
        bytes += item.bytes.length;
      }
      for (const row of await this.#place(batch)) await this.#write(row);
    }
    this.#running = false;
  }

  /** Gives every item its place; those that go on with one another are written together. */
  async #place(batch: readonly Item[]): Promise<Row[]> {
    const rows: Row[] = [];
    for (const item of batch) {
      try {
        item.host = await this.#room(item.bytes.length);
      } catch (error) {
        item.failed(error);
        continue;
      }
      const last = rows.at(-1);
      const end = item.host + item.bytes.length;
      if (last?.end === item.host) {
        last.items.push(item);
        last.end = end;
      } else rows.push({ start: item.host, end, items: [item] });
    }
    return rows;
  }

  async #write({ start, end, items }: Row): Promise<void> {
    const { file } = this.#image;
    const { requestAlignment, optMemAlignment } = file.limits;
    // What is left of the last cluster is nobody's: zeroes there do no harm.
    const align = this.#clusterSize % requestAlignment === 0 ? requestAlignment : 1;
    const last = this.#tail;
    const tail = last && last.offset + last.bytes.length === start ? last.bytes : undefined;
    const from = tail ? start - tail.length : start;
    const to = alignUp(end, align);
    let memory: Uint8Array | undefined;
    try {
      memory = file.memory.allocate(to - from, optMemAlignment);
      if (tail) memory.set(tail);
      for (const { host, bytes } of items) memory.set(bytes, host - from);
      memory.fill(0, end - from);
      this.#image.checkWrite(start, end - start);
      await this.#image.reach(to);
      await file.write(from, memory);
      const block = Math.max(from, alignDown(end, align));
      // Without the block's start there is nothing to go on from.
      this.#tail =
        block % align === 0 && block < end
          ? { offset: block, bytes: memory.slice(block - from, end - from) }
          : undefined;
      for (const { written, host } of items) written(host);
    } catch (error) {
      this.reloaded();
      for (const { host, bytes, failed } of items) {
        await this.giveBack(host, bytes.length).catch(() => {});
        failed(error);
      }
    } finally {
      if (memory) file.memory.release(memory);
    }
  }

  /** Room for so many bytes, each cluster of it counted once more. */
  async #room(bytes: number): Promise<number> {
    const { allocator, refcounts } = this.#image;
    const clusterSize = this.#clusterSize;
    while (this.#next % clusterSize !== 0) {
      const cluster = Math.floor(this.#next / clusterSize);
      if ((await refcounts.get(cluster)) >= refcounts.max) break;
      const fits = (this.#next % clusterSize) + bytes <= clusterSize;
      const taken = fits ? undefined : await allocator.take(1);
      if (taken && taken.offset !== alignUp(this.#next, clusterSize))
        return this.#advance(taken.offset, bytes);
      await refcounts.change(cluster, 1);
      if (Math.floor(this.#next / clusterSize) === cluster) return this.#advance(this.#next, bytes);
      // It was given up while we waited.
      if ((await refcounts.change(cluster, -1)) === 0) allocator.freed(cluster);
      if (taken) return this.#advance(taken.offset, bytes);
    }
    return this.#advance((await allocator.take(1)).offset, bytes);
  }

  #advance(start: number, bytes: number): number {
    this.#next = start + bytes;
    return start;
  }
}
