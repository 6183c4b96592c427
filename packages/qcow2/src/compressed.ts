import type { BlockNode } from '@blockyard/core';
import { corrupt } from './failure.ts';
import type { Decoder } from './platform/decoder.ts';

const cacheBytes = 2 << 20;
const flightBytes = 8 << 20;

/**
 * Compressed clusters, decoded. Many readers that want the same one share one decoding; the last few are kept, so
 * that small reads in a row decode once; no more than so many are read and decoded at once.
 */
export class CompressedClusters {
  readonly #file: BlockNode;
  readonly #clusterSize: number;
  readonly #decode: Decoder;
  readonly #kept = new Map<number, Uint8Array>();
  readonly #mostKept: number;
  readonly #decoding = new Map<number, Promise<Uint8Array>>();
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
    this.#mostDecoding = Math.min(16, Math.max(4, Math.floor(flightBytes / clusterSize)));
  }

  /** The bytes of the cluster whose data starts at `host`. */
  get(host: number, stored: number, offset: number): Uint8Array | Promise<Uint8Array> {
    const kept = this.#kept.get(host);
    if (kept) {
      if (this.#kept.size > 1) {
        this.#kept.delete(host);
        this.#kept.set(host, kept);
      }
      return kept;
    }
    let decoding = this.#decoding.get(host);
    if (!decoding) {
      decoding = this.#load(host, stored, offset).finally(() => this.#decoding.delete(host));
      this.#decoding.set(host, decoding);
    }
    return decoding;
  }

  clear(): void {
    this.#kept.clear();
  }

  async #load(host: number, stored: number, offset: number): Promise<Uint8Array> {
    // Who waits is handed the place of who leaves.
    if (this.#running >= this.#mostDecoding)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    const { memory } = this.#file;
    const input = memory.allocate(stored, 1);
    try {
      await this.#file.read(host, input);
      this.decoded++;
      const bytes = await this.#decodeWhole(input, host, offset);
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

  async #decodeWhole(input: Uint8Array, host: number, offset: number): Promise<Uint8Array> {
    let why: string;
    try {
      const bytes = await this.#decode(input, this.#clusterSize);
      if (bytes.length === this.#clusterSize) return bytes;
      why = `it holds ${bytes.length} bytes`;
    } catch (error) {
      why = String((error as Error)?.message ?? error);
    }
    const text = `the compressed data at ${host} for ${offset} does not decode to a cluster of ${this.#clusterSize} bytes (${why})`;
    throw corrupt(this.#file, text, offset);
  }
}
