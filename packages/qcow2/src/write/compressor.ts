import { BlockError, type WriteOptions } from '@blockyard/core';
import { byteLength, copyTo, type IoData, slice as part } from '@blockyard/iov-utils';
import { encoderFor } from '../compress.ts';
import { Flight } from '../flight.ts';
import type { Image } from '../image.ts';
import type { Busy } from './busy.ts';
import type { Entries } from './entries.ts';
import type { Linker } from './linker.ts';
import { Packer } from './packer.ts';
import type { Writer } from './writer.ts';

/** Clusters of one request that are compressed and written at once. */
const mostInFlight = 32;

/** Writes whole clusters compressed, one after the other in the file, sharing its clusters. */
export class Compressor {
  readonly #image: Image;
  readonly #entries: Entries;
  readonly #linker: Linker;
  readonly #busy: Busy;
  readonly #writer: Writer;
  readonly #size: () => number;
  readonly #packer: Packer;

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
    this.#packer = new Packer(image);
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

  async #cluster(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    const { clusterSize } = this.#entries;
    const { header } = this.#image;
    const bytes = whole(from, clusterSize);
    const encoded = await encoderFor(header.compressionType)(bytes);
    options.signal?.throwIfAborted();
    if (!encoded) return await this.#writer.write(offset, from, options);
    const cluster = offset / clusterSize;
    while (this.#busy.free(cluster, cluster + 1) === 0) await this.#busy.wait(cluster);
    const reserved = this.#busy.reserve(cluster, cluster + 1);
    try {
      // A table that is made only afterwards would lie between what belongs together.
      await this.#entries.with(offset, () => {});
      const host = await this.#packer.add(encoded);
      try {
        options.signal?.throwIfAborted();
        await this.#entries.with(offset, (slice) =>
          this.#linker.compressed(slice, this.#entries.index(offset), host, encoded.length),
        );
      } catch (error) {
        await this.#packer.giveBack(host, encoded.length).catch(() => {});
        throw error;
      }
    } finally {
      this.#busy.release(reserved);
    }
  }
}

/** One buffer of a whole cluster; what the end of the disk cuts off is zeroes. */
function whole(from: IoData, clusterSize: number): Uint8Array {
  if (from instanceof Uint8Array && from.length === clusterSize) return from;
  const bytes = new Uint8Array(clusterSize);
  copyTo(from, bytes.subarray(0, byteLength(from)));
  return bytes;
}
