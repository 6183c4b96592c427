import {
  BlockNode,
  type Extent,
  type MaybePromise,
  type OpenContext,
  type ReadOptions,
  type RequestOptions,
  readOnlySupports,
} from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';
import type { Qcow2Header } from './header.ts';
import type { Parts } from './parts.ts';
import { Reader } from './reader.ts';
import { StatusTeller } from './status.ts';

/** An open qcow2 image. */
export class Qcow2Node extends BlockNode {
  readonly #parts: Parts;
  readonly #reader: Reader;
  readonly #status: StatusTeller;

  constructor(parts: Parts, context: OpenContext) {
    const { file, data, backing } = parts;
    super({
      driver: { name: 'qcow2', kind: 'format' },
      context,
      supports: { ...readOnlySupports, blockStatus: true },
      children: { file, ...(data === file ? {} : { 'data-file': data }), ...(backing ? { backing } : {}) },
    });
    this.#parts = parts;
    this.#reader = new Reader(parts);
    this.#status = new StatusTeller(parts);
  }

  get size(): number {
    return this.#parts.size;
  }

  /** The header that the image was opened with. */
  get header(): Readonly<Qcow2Header> {
    return this.#parts.header;
  }

  /** Slices of L2 tables and compressed clusters that were read so far, and bytes of tables in memory. */
  get metadataStats(): { sliceLoads: number; decodedClusters: number; cachedBytes: number } {
    const { cache, compressed } = this.#parts;
    return { sliceLoads: cache.loads, decodedClusters: compressed.decoded, cachedBytes: cache.bytes };
  }

  override describeOptions(): Record<string, unknown> {
    const { header, snapshot, cache } = this.#parts;
    return {
      version: header.version,
      clusterSize: header.clusterSize,
      cacheSize: cache.budget,
      ...(snapshot ? { snapshot: snapshot.id } : {}),
    };
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    return this.#reader.read(offset, byteLength(into), into, options);
  }

  protected override _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): MaybePromise<Extent> {
    return this.#status.tell(offset, length, options);
  }

  /** Nothing is written, so nothing is to be flushed. */
  protected override _flush(): void {}

  protected override _close(): void {
    this.#parts.cache.clear();
    this.#parts.compressed.clear();
  }
}
