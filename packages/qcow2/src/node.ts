import {
  type BlockLimits,
  BlockNode,
  type Extent,
  type ImageFeatures,
  type MaybePromise,
  type OpenContext,
  type ReadOptions,
  type RequestOptions,
  readOnlySupports,
  type Supports,
  type TruncateOptions,
  type WriteOptions,
  type ZeroOptions,
} from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';
import type { Qcow2Header } from './header.ts';
import type { Qcow2Options } from './options.ts';
import type { Parts } from './parts.ts';
import { Reader } from './reader.ts';
import { StatusTeller } from './status.ts';
import { Guest } from './write/guest.ts';
import { makeEmpty } from './write/make-empty.ts';
import { resize, type View } from './write/resize.ts';
import { Snapshots } from './write/snapshot-store.ts';

/** An open qcow2 image. */
export class Qcow2Node extends BlockNode {
  readonly #parts: Parts;
  readonly #reader: Reader;
  readonly #status: StatusTeller;
  /** Undefined where the image is open for reading. */
  readonly #guest: Guest | undefined;
  #features: ImageFeatures | undefined;

  constructor(parts: Parts, options: Qcow2Options, context: OpenContext) {
    const { file, data, backing, image, mapping, bitmaps } = parts;
    super({
      driver: { name: 'qcow2', kind: 'format' },
      context,
      supports: supportsOf(parts),
      children: { file, ...(data === file ? {} : { 'data-file': data }), ...(backing ? { backing } : {}) },
    });
    this.#parts = parts;
    this.#reader = new Reader(parts);
    this.#status = new StatusTeller(parts);
    if (!image || !bitmaps) return;
    const keepPlaces = options.discardNoUnref ?? false;
    this.#guest = new Guest({ image, bitmaps, mapping, reader: this.#reader, backing, keepPlaces });
  }

  get size(): number {
    const { image, size } = this.#parts;
    return image ? image.header.size : size;
  }

  /** The header as it is now. */
  get header(): Readonly<Qcow2Header> {
    return this.#parts.image?.header ?? this.#parts.header;
  }

  override get features(): ImageFeatures {
    this.#features ??= this.#makeFeatures();
    return this.#features;
  }

  /** Slices of L2 tables and compressed clusters that were read so far, and bytes of tables in memory. */
  get metadataStats(): { sliceLoads: number; decodedClusters: number; cachedBytes: number } {
    const { cache, compressed } = this.#parts;
    return { sliceLoads: cache.loads, decodedClusters: compressed.decoded, cachedBytes: cache.bytes };
  }

  override describeOptions(): Record<string, unknown> {
    const { snapshot, cache } = this.#parts;
    const { version, clusterSize } = this.header;
    return {
      version,
      clusterSize,
      cacheSize: cache.budget,
      ...(snapshot ? { snapshot: snapshot.id } : {}),
    };
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    const length = byteLength(into);
    return this.#guest
      ? this.#guest.image.request(() => this.#reader.read(offset, length, into, options))
      : this.#reader.read(offset, length, into, options);
  }

  protected override _write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    const guest = this.#guest as Guest;
    return guest.image.change(() => guest.write(offset, from, options));
  }

  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    const guest = this.#guest as Guest;
    return guest.image.change(() => guest.writeZeroes(offset, length, options));
  }

  protected override _discard(offset: number, length: number, options: RequestOptions): MaybePromise<void> {
    const guest = this.#guest as Guest;
    return guest.image.change(() => guest.discard(offset, length, options));
  }

  protected override _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): MaybePromise<Extent> {
    const tell = () => this.#status.tell(offset, length, options);
    return this.#guest ? this.#guest.image.request(tell) : tell();
  }

  protected override _flush(): MaybePromise<void> {
    return this.#guest?.image.commit();
  }

  protected override async _truncate(size: number, options: TruncateOptions): Promise<void> {
    const { image, bitmaps } = this.#guest as Guest;
    const view: View = {
      backing: this.#parts.backing,
      read: (offset, into) => this.#reader.read(offset, into.length, into, {}),
    };
    await bitmaps.whileResizing(size, () => resize(image, size, options, view));
  }

  /** Clusters are units of discards; zeroes find out for themselves what of a cluster they have to keep. */
  protected override _refreshLimits(limits: BlockLimits): void {
    limits.pdiscardAlignment = this.header.clusterSize;
  }

  protected override async _close(): Promise<void> {
    const { cache, compressed, image, bitmaps } = this.#parts;
    try {
      await bitmaps?.store();
    } finally {
      try {
        await image?.close();
      } finally {
        cache.clear();
        compressed.clear();
      }
    }
  }

  #makeFeatures(): ImageFeatures {
    const guest = this.#guest;
    const { clusterSize, extendedL2 } = this.header;
    const sizes = { clusterSize, ...(extendedL2 ? { subclusterSize: clusterSize / 32 } : {}) };
    if (!guest) return { ...sizes, bitmaps: this.#parts.bitmaps };
    const { image, bitmaps } = guest;
    return {
      ...sizes,
      snapshots: new Snapshots(image, bitmaps),
      bitmaps,
      changeBacking: (backingFile, backingFormat) =>
        image.exclusive(() => image.updateHeader({ backingFile, backingFormat })),
      makeEmpty: (options) => makeEmpty(image, options),
    };
  }
}

function supportsOf({ image, header }: Parts): Supports {
  if (!image) return { ...readOnlySupports, blockStatus: true };
  return {
    write: true,
    discard: true,
    writeZeroes: true,
    blockStatus: true,
    resize: true,
    fua: false,
    compress: !header.externalData,
    copyRange: false,
  };
}
