import { alignDown, alignUp, type MaybePromise, type WriteOptions } from '@blockyard/core';
import { byteLength, type IoData, slice as part } from '@blockyard/iov-utils';
import { Flight } from '../flight.ts';
import type { Image } from '../image.ts';
import type { Slice } from '../metadata-cache.ts';
import type { Taken } from './allocator.ts';
import type { Busy, Reserved } from './busy.ts';
import type { Entries } from './entries.ts';
import type { Linker } from './linker.ts';
import { newPlan, type Plan, Planner, unitMask, ways } from './plan.ts';
import type { Surroundings } from './surroundings.ts';

/** Parts of one request that are written at once. */
const mostInFlight = 16;

export interface WriterInit {
  image: Image;
  entries: Entries;
  linker: Linker;
  busy: Busy;
  surroundings: Surroundings;
  size(): number;
}

/** Writes guest data: in place where the cluster is this disk's own, else into new clusters. */
export class Writer {
  readonly #image: Image;
  readonly #entries: Entries;
  readonly #linker: Linker;
  readonly #busy: Busy;
  readonly #surroundings: Surroundings;
  readonly #size: () => number;
  readonly #planner: Planner;
  /** Of the request that is being looked at; nothing waits while it is in use. */
  readonly #plan = newPlan();

  constructor({ image, entries, linker, busy, surroundings, size }: WriterInit) {
    this.#size = size;
    this.#image = image;
    this.#entries = entries;
    this.#linker = linker;
    this.#busy = busy;
    this.#surroundings = surroundings;
    this.#planner = new Planner(image, entries);
  }

  write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    const length = byteLength(from);
    const slice = this.#entries.hit(offset);
    // Most writes go to one place that is known already: they need nothing of what follows.
    if (slice) {
      const plan = this.#plan;
      this.#planner.fill(plan, slice, offset, length);
      if (plan.way === ways.inPlace && plan.length === length)
        return this.#put(plan.host, from, length, options);
    }
    return this.#writeParts(offset, length, from, options);
  }

  async #writeParts(offset: number, length: number, from: IoData, options: WriteOptions): Promise<void> {
    const flight = new Flight(mostInFlight);
    try {
      let loaded: Slice | undefined;
      for (let done = 0; done < length && !flight.failed; ) {
        if (flight.full) await flight.room();
        const at = offset + done;
        const slice = this.#entries.hit(at) ?? this.#entries.slice(at, loaded);
        if (slice instanceof Promise) {
          loaded = await slice;
          continue;
        }
        const plan = this.#plan;
        this.#planner.fill(plan, slice, at, length - done);
        if (plan.way === ways.inPlace) {
          const { host, length: bytes } = plan;
          const work = this.#put(host, part(from, done, done + bytes), bytes, options);
          if (work) flight.add(work);
          done += bytes;
          continue;
        }
        const cluster = Math.floor(at / this.#entries.clusterSize);
        const free = this.#busy.free(cluster, cluster + plan.clusters);
        if (free === 0) {
          await this.#busy.wait(cluster);
          continue;
        }
        const started = await this.#begin(plan, at, free, length - done);
        const bytes = started.end - at;
        flight.add(this.#place(started, part(from, done, done + bytes), options));
        done += bytes;
      }
    } catch (error) {
      flight.fail(error);
    }
    await flight.finish();
    await this.#image.relieve();
  }

  #put(host: number, from: IoData, length: number, options: WriteOptions): MaybePromise<void> {
    const { data, file } = this.#image;
    if (data === file) this.#image.checkWrite(host, length);
    const growing = this.#image.reach(host + length);
    return growing ? growing.then(() => data.write(host, from, options)) : data.write(host, from, options);
  }

  /** Takes the clusters: nobody else changes where they are until they are placed. */
  async #begin(plan: Plan, offset: number, clusters: number, length: number): Promise<Placing> {
    const { clusterSize } = this.#entries;
    const first = Math.floor(offset / clusterSize);
    const own = plan.way === ways.own;
    const hostCluster = plan.host - (offset % clusterSize);
    const reserved = this.#busy.reserve(first, first + clusters);
    try {
      const taken = own
        ? { offset: hostCluster, clusters, fresh: false }
        : await this.#take(first * clusterSize, clusters);
      reserved.end = first + taken.clusters;
      const end = Math.min(offset + length, reserved.end * clusterSize);
      return { reserved, taken, own, start: offset, end, linked: 0 };
    } catch (error) {
      this.#busy.release(reserved);
      throw error;
    }
  }

  /** In an external data file every cluster is where the disk has it. */
  #take(offset: number, clusters: number): MaybePromise<Taken> {
    if (this.#image.header.externalData) return { offset, clusters, fresh: false };
    return this.#image.allocator.take(clusters);
  }

  async #place(placing: Placing, from: IoData, options: WriteOptions): Promise<void> {
    const { reserved, taken, own } = placing;
    try {
      await this.#fillAndLink(placing, from, options);
    } catch (error) {
      const { offset, clusters } = taken;
      const left = clusters - placing.linked;
      // Nothing leads to the other new clusters. What fails here too is leaked.
      if (!own && !this.#image.header.externalData && left > 0)
        await this.#image.allocator
          .free(offset + placing.linked * this.#entries.clusterSize, left)
          .catch(() => {});
      throw error;
    } finally {
      this.#busy.release(reserved);
    }
  }

  async #fillAndLink(placing: Placing, from: IoData, options: WriteOptions): Promise<void> {
    const { reserved, taken, own, start, end } = placing;
    const { clusterSize, unit } = this.#entries;
    const firstByte = reserved.first * clusterSize;
    const lastByte = reserved.end * clusterSize;
    const [from0, wanted] = await this.#entries.with(start, (slice) => {
      // A new place has to hold all that the old one had.
      const whole = (cluster: number) => !own && this.#holdsMore(slice, cluster * clusterSize);
      // A unit that is in this place already keeps its other bytes, which others may be writing just now.
      const there = (offset: number) => own && this.#isThere(slice, offset);
      return [
        whole(reserved.first) ? firstByte : there(start) ? start : alignDown(start, unit),
        whole(reserved.end - 1) ? lastByte : there(end - 1) ? end : alignUp(end, unit),
      ] as const;
    });
    // An external data file ends where the disk does.
    const to = this.#image.header.externalData ? Math.max(end, Math.min(wanted, this.#size())) : wanted;
    const blank = taken.fresh;
    const head = await this.#surroundings.read(from0, start, blank);
    let tail: Uint8Array | undefined;
    try {
      tail = await this.#surroundings.read(end, to, blank);
      options.signal?.throwIfAborted();
      const vector = [
        ...(head ? [head] : []),
        ...(Array.isArray(from) ? from : [from]),
        ...(tail ? [tail] : []),
      ];
      const writeStart = head ? from0 : start;
      const writeEnd = tail ? to : end;
      await this.#put(
        taken.offset + writeStart - firstByte,
        vector as IoData,
        writeEnd - writeStart,
        options,
      );
    } finally {
      this.#surroundings.release(head);
      this.#surroundings.release(tail);
    }
    await this.#entries.with(start, (slice) => this.#link(placing, slice, from0, wanted));
  }

  /** Whether the cluster has data of its own besides the unit that is written. */
  #holdsMore(slice: Slice, offset: number): boolean {
    if (!this.#entries.extended) return false;
    const index = this.#entries.index(offset);
    return this.#entries.isCompressed(slice, index) || this.#entries.allocated(slice, index) !== 0;
  }

  #isThere(slice: Slice, offset: number): boolean {
    const { extended, clusterSize, unit } = this.#entries;
    if (!extended) return false;
    const bit = Math.floor((offset % clusterSize) / unit);
    return ((this.#entries.allocated(slice, this.#entries.index(offset)) >>> bit) & 1) === 1;
  }

  #link(placing: Placing, slice: Slice, from: number, to: number): void {
    const { reserved, taken, own } = placing;
    const { clusterSize, unit } = this.#entries;
    for (let cluster = reserved.first; cluster < reserved.end; cluster++) {
      const at = cluster * clusterSize;
      const index = this.#entries.index(at);
      const mask = this.#entries.extended
        ? unitMask(Math.max(from, at) - at, Math.min(to, at + clusterSize) - at, unit)
        : 0;
      if (own) this.#linker.fill(slice, index, mask);
      else this.#linker.place(slice, index, taken.offset + at - reserved.first * clusterSize, mask);
      placing.linked++;
    }
  }
}

interface Placing {
  reserved: Reserved;
  taken: Taken;
  /** The clusters were there already. */
  own: boolean;
  /** Bytes of the disk that are written. */
  start: number;
  end: number;
  /** How many of the clusters have their entry already. */
  linked: number;
}
