import { alignUp, BlockError, type WriteOptions } from '@blockyard/core';
import { byteLength, copyTo, type IoData, slice as part } from '@blockyard/iov-utils';
import { encoderFor } from '../compress.ts';
import { Flight } from '../flight.ts';
import type { ClusterWatcher, Image } from '../image.ts';
import type { Busy } from './busy.ts';
import type { Entries } from './entries.ts';
import type { Linker } from './linker.ts';
import { Lock } from './lock.ts';
import type { Writer } from './writer.ts';

/** Clusters of one request that are compressed and written at once. */
const mostInFlight = 32;

/** Writes whole clusters compressed, one after the other in the file, sharing its clusters. */
export class Compressor implements ClusterWatcher {
  readonly #image: Image;
  readonly #entries: Entries;
  readonly #linker: Linker;
  readonly #busy: Busy;
  readonly #writer: Writer;
  readonly #size: () => number;
  readonly #packing = new Lock();
  /** Where the next compressed data can go on; at the start of a cluster there is no room. */
  #next = 0;

  constructor(
    image: Image,
    entries: Entries,
    linker: Linker,
    busy: Busy,
    writer: Writer,
    size: () => number,
  ) {
    this.#image = image;
    this.#entries = entries;
    this.#linker = linker;
    this.#busy = busy;
    this.#writer = writer;
    this.#size = size;
    image.watch(this);
  }

  /** @throws BlockError ERR_INVALID_OPTION unless the request is for whole clusters, up to the end of the disk. */
  async write(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    const { clusterSize } = this.#entries;
    const end = offset + byteLength(from);
    if (offset % clusterSize !== 0 || (end % clusterSize !== 0 && end !== this.#size())) {
      const text = `qcow2 image ${this.#image.file.path}: bytes ${offset} to ${end} are no whole clusters of ${clusterSize} bytes; only those can be compressed`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'write', offset, driver: 'qcow2' });
    }
    const flight = new Flight(mostInFlight);
    for (let at = offset; at < end && !flight.failed; at += clusterSize) {
      if (flight.full) await flight.room();
      flight.add(
        this.#cluster(at, part(from, at - offset, Math.min(end, at + clusterSize) - offset), options),
      );
    }
    await flight.finish();
    await this.#image.relieve();
  }

  /** The cluster is nobody's: nothing more goes there. */
  freed(cluster: number): void {
    if (Math.floor(this.#next / this.#entries.clusterSize) === cluster) this.#next = 0;
  }

  reloaded(): void {
    this.#next = 0;
  }

  async #cluster(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    const { clusterSize } = this.#entries;
    const { file, header } = this.#image;
    const bytes = whole(from, clusterSize);
    const encoded = await encoderFor(header.compressionType)(bytes);
    options.signal?.throwIfAborted();
    if (!encoded) return await this.#writer.write(offset, from, options);
    const cluster = offset / clusterSize;
    while (this.#busy.free(cluster, cluster + 1) === 0) await this.#busy.wait(cluster);
    const reserved = this.#busy.reserve(cluster, cluster + 1);
    try {
      const host = await this.#packing.run(() => this.#room(encoded.length));
      try {
        this.#image.checkWrite(host, encoded.length);
        await this.#image.reach(host + encoded.length);
        await file.write(host, encoded, options);
        const slice = this.#entries.hit(offset) ?? (await this.#entries.load(offset));
        this.#linker.compressed(slice, this.#entries.index(offset), host, encoded.length);
      } catch (error) {
        await this.#giveBack(host, encoded.length).catch(() => {});
        throw error;
      }
    } finally {
      this.#busy.release(reserved);
    }
  }

  /** Room for so many bytes, each cluster of it counted once more. */
  async #room(bytes: number): Promise<number> {
    const { allocator, refcounts } = this.#image;
    const { clusterSize } = this.#entries;
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

  async #giveBack(host: number, bytes: number): Promise<void> {
    const { allocator, refcounts } = this.#image;
    await refcounts.add(host, bytes, -1, (cluster) => allocator.freed(cluster));
  }
}

/** One buffer of a whole cluster; what the end of the disk cuts off is zeroes. */
function whole(from: IoData, clusterSize: number): Uint8Array {
  if (from instanceof Uint8Array && from.length === clusterSize) return from;
  const bytes = new Uint8Array(clusterSize);
  copyTo(from, bytes.subarray(0, byteLength(from)));
  return bytes;
}
