import type { BlockNode, MaybePromise } from '@blockyard/core';
import { copyFrom, type IoData } from '@blockyard/iov-utils';
import { corrupt } from './failure.ts';
import type { ClusterWatcher } from './image.ts';
import type { Decoder } from './platform/decoder.ts';
import type { Run } from './run.ts';

const cacheBytes = 2 << 20;
/** Each is a read and a turn of the thread pool in a row: it takes many more than threads to keep those busy. */
const mostFlights = 64;
const flightBytes = 8 << 20;

/**
 * Compressed clusters, decoded. Many readers that want the same one share one decoding; the last few are kept, so
 * that small reads in a row decode once; no more than so many are read and decoded at once. Who reads a whole cluster,
 * and is alone in it, has it decoded in the memory of the request, and nothing is kept.
 */
export class CompressedClusters implements ClusterWatcher {
  readonly #file: BlockNode;
  readonly #clusterSize: number;
  readonly #decode: Decoder;
  readonly #kept = new Map<number, Uint8Array>();
  readonly #mostKept: number;
  readonly #decoding = new Map<number, Promise<Uint8Array>>();
  /** Being decoded in the memory of a request, which nobody else may look into. */
  readonly #direct = new Set<number>();
  readonly #mostDecoding: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** Clusters decoded so far. */
  decoded = 0;

  constructor(file: BlockNode, clusterSize: number, decode: Decoder) {
    this.#file = file;
    this.#clusterSize = clusterSize;
    this.#decode = decode;
    this.#mostKept = Math.min(16, Math.max(2, Math.floor(cacheBytes / clusterSize)));
    this.#mostDecoding = Math.min(mostFlights, Math.max(4, Math.floor(flightBytes / clusterSize)));
  }

  /** Reads a run of one compressed cluster that is at `offset` in the disk; `into` has just its length. */
  read(run: Run, offset: number, into: IoData): MaybePromise<void> {
    // The run is the caller's, and used for the next one meanwhile.
    const { host, stored, inCluster, length } = run;
    const start = offset - inCluster;
    const kept = this.#keptOf(host);
    if (kept) {
      copyFrom(into, kept, 0, inCluster, length);
      return;
    }
    let decoding = this.#decoding.get(host);
    if (!decoding) {
      if (length === this.#clusterSize && into instanceof Uint8Array && !this.#direct.has(host))
        return this.#loadInto(host, stored, start, into);
      decoding = this.#load(host, stored, start).finally(() => this.#decoding.delete(host));
      this.#decoding.set(host, decoding);
    }
    return decoding.then((bytes) => {
      copyFrom(into, bytes, 0, inCluster, length);
    });
  }

  clear(): void {
    this.#kept.clear();
  }

  reloaded(): void {
    this.clear();
  }

  /** The cluster of the file is going to hold something else. */
  freed(cluster: number): void {
    for (const host of this.#kept.keys()) {
      // Compressed data may go on into the next cluster.
      const first = Math.floor(host / this.#clusterSize);
      if (first === cluster || first + 1 === cluster) this.#kept.delete(host);
    }
  }

  #keptOf(host: number): Uint8Array | undefined {
    const kept = this.#kept.get(host);
    if (kept && this.#kept.size > 1) {
      this.#kept.delete(host);
      this.#kept.set(host, kept);
    }
    return kept;
  }

  async #loadInto(host: number, stored: number, offset: number, into: Uint8Array): Promise<void> {
    this.#direct.add(host);
    try {
      const bytes = await this.#load(host, stored, offset, into);
      if (bytes !== into) into.set(bytes);
    } finally {
      this.#direct.delete(host);
    }
  }

  async #load(host: number, stored: number, offset: number, into?: Uint8Array): Promise<Uint8Array> {
    // Who waits is handed the place of who leaves.
    if (this.#running >= this.#mostDecoding)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    const { memory } = this.#file;
    const input = memory.allocate(stored, 1);
    try {
      await this.#file.read(host, input);
      this.decoded++;
      const bytes = await this.#decodeWhole(input, host, offset, into);
      if (bytes === into) return bytes;
      this.#kept.set(host, bytes);
      if (this.#kept.size > this.#mostKept) this.#kept.delete(this.#kept.keys().next().value as number);
      return bytes;
    } finally {
      memory.release(input);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  async #decodeWhole(
    input: Uint8Array,
    host: number,
    offset: number,
    into: Uint8Array | undefined,
  ): Promise<Uint8Array> {
    let why: string;
    try {
      const bytes = await this.#decode(input, this.#clusterSize, into);
      if (bytes.length === this.#clusterSize) return bytes;
      why = `it holds ${bytes.length} bytes`;
    } catch (error) {
      why = String((error as Error)?.message ?? error);
    }
    const text = `the compressed data at ${host} for ${offset} does not decode to a cluster of ${this.#clusterSize} bytes (${why})`;
    throw corrupt(this.#file, text, offset);
  }
}
