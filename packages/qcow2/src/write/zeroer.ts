import { alignDown, alignUp, BlockError, type MaybePromise, type ZeroOptions } from '@blockyard/core';
import type { Image } from '../image.ts';
import type { Slice } from '../metadata-cache.ts';
import type { Busy } from './busy.ts';
import type { Entries } from './entries.ts';
import type { Linker } from './linker.ts';
import { unitMask } from './plan.ts';
import type { Writer } from './writer.ts';
import { type Edit, ZeroEdits } from './zero-edits.ts';

export interface ZeroerInit {
  image: Image;
  entries: Entries;
  linker: Linker;
  busy: Busy;
  writer: Writer;
  hasBacking: boolean;
  /** Clusters that are given up keep their place all the same, so that the file does not become fragmented. */
  keepPlaces: boolean;
  /** Whether no data is stored there in this image, and nothing but zeroes behind it. True for an empty range. */
  isHole(start: number, end: number): Promise<boolean>;
  size(): number;
}

interface Walk {
  /** What happens to the bytes in an external data file, before they are out of sight. */
  below?: ((at: number, bytes: number) => MaybePromise<void>) | undefined;
  /** Nothing is to be done where there is no L2 table. */
  skipHoles?: boolean;
}

/** Zeroes and discards: changes of tables, and of bytes only where a part of a cluster must be kept. */
export class Zeroer {
  readonly #init: ZeroerInit;
  readonly #edits: ZeroEdits;

  constructor(init: ZeroerInit) {
    this.#init = init;
    this.#edits = new ZeroEdits(init.entries, init.linker, init.hasBacking);
  }

  /** @throws BlockError ERR_NOT_SUPPORTED when bytes would have to be written, and `noFallback` forbids it. */
  zero(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    const { image, entries } = this.#init;
    const { header } = image;
    if (header.version < 3) return this.#zeroWithoutFlag(offset, length, options);
    const edit = options.mayUnmap && !this.#init.keepPlaces ? this.#edits.unmapped : this.#edits.kept;
    const whole = offset % entries.unit === 0 && length % entries.unit === 0;
    if (!whole || header.rawExternalData) return this.#zeroSlowly(offset, length, options, edit);
    // Most zeroes change entries that are in memory, and nothing else.
    const done = this.#eachNow(offset, offset + length, edit) - offset;
    return done < length ? this.#zeroSlowly(offset + done, length - done, options, edit) : image.relieve();
  }

  async #zeroSlowly(offset: number, length: number, options: ZeroOptions, edit: Edit): Promise<void> {
    const { image, entries, size } = this.#init;
    const { header, data } = image;
    const { unit } = entries;
    const end = offset + length;
    const start = Math.min(alignUp(offset, unit), end);
    // Nothing follows the end of the disk.
    const stop = end === size() ? alignUp(end, unit) : Math.max(start, alignDown(end, unit));
    if (offset < start) await this.#partOfUnit(offset, start, options, edit);
    if (stop < end) await this.#partOfUnit(stop, end, options, edit);
    if (start >= Math.min(stop, end)) return;
    const below = header.rawExternalData
      ? (at: number, bytes: number) => data.writeZeroes(at, bytes, { ...options, fua: false })
      : undefined;
    await this.#each(start, stop, options, edit, { below });
    await image.relieve();
  }

  /** A part of one unit: the whole of it becomes zero when the rest is, or else the part is written. */
  async #partOfUnit(from: number, to: number, options: ZeroOptions, edit: Edit): Promise<void> {
    const { entries, busy, image, size } = this.#init;
    const { clusterSize, unit } = entries;
    const start = alignDown(from, unit);
    const end = Math.min(start + unit, size());
    const cluster = Math.floor(start / clusterSize);
    while (busy.free(cluster, cluster + 1) === 0) await busy.wait(cluster);
    // Nobody gives the cluster a place meanwhile; and what has none cannot be written in place.
    const reserved = busy.reserve(cluster, cluster + 1);
    try {
      const { isHole } = this.#init;
      if (!image.header.rawExternalData && (await isHole(start, from)) && (await isHole(to, end))) {
        const own = await isHole(from, to);
        const index = entries.index(start);
        const inCluster = start % clusterSize;
        const done = await entries.with(start, (slice) => {
          if (!own && entries.extended && entries.isCompressed(slice, index)) return false;
          edit(slice, index, unitMask(inCluster, inCluster + unit, unit));
          return true;
        });
        if (done) return;
      }
    } finally {
      busy.release(reserved);
    }
    await this.#bytes(from, to - from, options);
  }

  /** Whole clusters. What had data reads as zeroes; with a backing image, what had none as well. */
  async discard(offset: number, length: number, options: ZeroOptions): Promise<void> {
    const { image, entries, hasBacking, size } = this.#init;
    const { header, data } = image;
    // Without a flag for zeroes, what is behind would come to light.
    if (header.version < 3 && hasBacking) return;
    const end = offset + length === size() ? alignUp(offset + length, entries.clusterSize) : offset + length;
    const edit: Edit =
      header.version < 3
        ? this.#edits.dropped
        : this.#init.keepPlaces
          ? this.#edits.keptIfData
          : this.#edits.discarded;
    // Zeroed rather than discarded: who reads there now sees what was, or zeroes.
    const { signal } = options;
    const below = header.externalData
      ? (at: number, bytes: number) => data.writeZeroes(at, bytes, { mayUnmap: true, signal })
      : undefined;
    await this.#each(offset, end, options, edit, { below, skipHoles: !hasBacking });
    await image.relieve();
  }

  /** Version 2: what has no backing image becomes unallocated, the rest is written. */
  async #zeroWithoutFlag(offset: number, length: number, options: ZeroOptions): Promise<void> {
    const { entries, hasBacking, size, image } = this.#init;
    const { clusterSize } = entries;
    const end = offset + length;
    const start = alignUp(offset, clusterSize);
    const stop = end === size() ? alignUp(end, clusterSize) : alignDown(end, clusterSize);
    if (hasBacking || start >= stop) {
      if (await this.#init.isHole(offset, end)) return;
      return await this.#bytes(offset, length, options);
    }
    if (start > offset) await this.#bytes(offset, start - offset, options);
    if (stop < end) await this.#bytes(stop, end - stop, options);
    if (options.mayUnmap) await this.#each(start, stop, options, this.#edits.dropped, { skipHoles: true });
    else await this.#bytesOfData(start, Math.min(stop, size()), options);
    await image.relieve();
  }

  /** Zero bytes only where there is data: the place stays. */
  async #bytesOfData(start: number, end: number, options: ZeroOptions): Promise<void> {
    const { clusterSize } = this.#init.entries;
    for (let at = start; at < end; at += clusterSize) {
      const length = Math.min(clusterSize, end - at);
      if (!(await this.#init.isHole(at, at + length))) await this.#bytes(at, length, options);
    }
  }

  async #bytes(offset: number, length: number, options: ZeroOptions): Promise<void> {
    if (await this.#init.isHole(offset, offset + length)) return;
    const { image, writer } = this.#init;
    if (options.noFallback) {
      const text = `qcow2 image ${image.file.path}: the ${length} bytes at ${offset} are no whole clusters, and zeroing them without writing bytes cannot be done`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'writeZeroes', offset, length, driver: 'qcow2' });
    }
    const { memory, limits } = image.file;
    const zeroes = memory.allocate(Math.min(length, mostZeroBytes), limits.optMemAlignment).fill(0);
    try {
      for (let at = offset, end = offset + length; at < end; ) {
        options.signal?.throwIfAborted();
        // Cuts lie between clusters.
        const stop = Math.min(end, alignDown(at, mostZeroBytes) + mostZeroBytes);
        await writer.write(at, zeroes.subarray(0, stop - at), { signal: options.signal });
        at = stop;
      }
    } finally {
      memory.release(zeroes);
    }
  }

  /** The same for whole units and without waiting; how far it came. */
  #eachNow(start: number, end: number, edit: Edit): number {
    const { entries, busy } = this.#init;
    const { clusterSize } = entries;
    let at = start;
    while (at < end) {
      const slice = entries.hit(at);
      if (!slice) return at;
      const cluster = Math.floor(at / clusterSize);
      const index = entries.index(at);
      const wanted = Math.min(entries.left(slice, index), Math.ceil(end / clusterSize) - cluster);
      const clusters = busy.free(cluster, cluster + wanted);
      if (clusters <= 0) return at;
      const edited = this.#edit(slice, at, end, clusters, edit);
      at = Math.min(end, Math.max(at, (cluster + edited) * clusterSize));
      if (edited < clusters) return at;
    }
    return at;
  }

  /** Changes the entries of the clusters from `start` to `end`, of which the first and the last may be in part. */
  async #each(
    start: number,
    end: number,
    options: ZeroOptions,
    edit: Edit,
    { below, skipHoles = false }: Walk = {},
  ): Promise<void> {
    const { entries, busy, image } = this.#init;
    const { clusterSize } = entries;
    let loaded: Slice | undefined;
    for (let at = start; at < end; ) {
      options.signal?.throwIfAborted();
      if (skipHoles && image.l1.at(entries.l1Index(at)) === 0) {
        at = (entries.l1Index(at) + 1) * entries.coverage;
        continue;
      }
      const cluster = Math.floor(at / clusterSize);
      const slice = entries.hit(at) ?? entries.slice(at, loaded);
      if (slice instanceof Promise) {
        loaded = await slice;
        continue;
      }
      const index = entries.index(at);
      const wanted = Math.min(entries.left(slice, index), Math.ceil(end / clusterSize) - cluster);
      const clusters = busy.free(cluster, cluster + wanted);
      if (clusters === 0) {
        await busy.wait(cluster);
        continue;
      }
      let edited: number;
      if (below) {
        // Who places a cluster anew meanwhile would have its bytes destroyed afterwards.
        const reserved = busy.reserve(cluster, cluster + clusters);
        try {
          const stop = Math.min(end, (cluster + clusters) * clusterSize, image.data.size);
          if (stop > at) await below(at, stop - at);
          edited = await entries.with(at, (now) => this.#edit(now, at, end, clusters, edit));
        } finally {
          busy.release(reserved);
        }
      } else edited = this.#edit(slice, at, end, clusters, edit);
      at = Math.max(at, (cluster + edited) * clusterSize);
      if (edited < clusters) {
        const next = (cluster + edited + 1) * clusterSize;
        await this.#bytes(at, Math.min(end, next) - at, options);
        at = next;
      }
      const relief = image.relieve();
      if (relief) await relief;
    }
  }

  /**
   * Changes so many entries from that for `at` on, of which the last may be meant in part. Ends before a compressed
   * cluster of which only a part is meant: that cannot be flagged. How many it changed.
   */
  #edit(slice: Slice, at: number, end: number, clusters: number, edit: Edit): number {
    const { entries } = this.#init;
    const { clusterSize, unit } = entries;
    const index = entries.index(at);
    const start = alignDown(at, clusterSize);
    for (let i = 0; i < clusters; i++) {
      const first = start + i * clusterSize;
      const mask = unitMask(Math.max(at, first) - first, Math.min(end - first, clusterSize), unit);
      if (entries.extended && mask !== 0xffffffff && entries.isCompressed(slice, index + i)) return i;
      edit(slice, index + i, mask);
    }
    return clusters;
  }
}

/** Memory for zero bytes that are written again and again. */
const mostZeroBytes = 1 << 20;
