import type { BlockNode, MaybePromise, RequestOptions, WriteOptions, ZeroOptions } from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';
import type { Image } from '../image.ts';
import type { Mapping } from '../mapping.ts';
import type { Reader } from '../reader.ts';
import type { Bitmaps } from './bitmap-store.ts';
import { Busy } from './busy.ts';
import { Compressor } from './compressor.ts';
import { Entries } from './entries.ts';
import { Holes } from './holes.ts';
import { Linker } from './linker.ts';
import { Surroundings } from './surroundings.ts';
import { Writer } from './writer.ts';
import { Zeroer } from './zeroer.ts';

const nothing: RequestOptions = {};

export interface GuestInit {
  image: Image;
  bitmaps: Bitmaps;
  mapping: Mapping;
  reader: Reader;
  backing: BlockNode | undefined;
  /** Clusters that are discarded keep their place. */
  keepPlaces: boolean;
}

/** What a guest's requests do to the image. */
export class Guest {
  readonly image: Image;
  readonly bitmaps: Bitmaps;
  readonly #compressor: Compressor;
  readonly #writer: Writer;
  readonly #zeroer: Zeroer;

  constructor({ image, bitmaps, mapping, reader, backing, keepPlaces }: GuestInit) {
    const size = () => image.header.size;
    this.image = image;
    this.bitmaps = bitmaps;
    const entries = new Entries(image);
    const linker = new Linker(image, entries);
    const busy = new Busy();
    const surroundings = new Surroundings(image.file, backing, mapping, reader, size);
    const writer = new Writer({ image, entries, linker, busy, surroundings, size });
    const holes = new Holes(mapping, backing);
    this.#writer = writer;
    this.#compressor = new Compressor(image, entries, linker, busy, writer, size);
    this.#zeroer = new Zeroer({
      ...{ image, entries, linker, busy, writer, keepPlaces, size },
      hasBacking: backing !== undefined,
      isHole: (start, end) => holes.has(start, end),
    });
  }

  write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    const { signal } = options;
    const passed = signal ? { signal } : nothing;
    const writer = options.compressed ? this.#compressor : this.#writer;
    if (this.bitmaps.quiet) return writer.write(offset, from, passed);
    return this.bitmaps.track(offset, byteLength(from), () => writer.write(offset, from, passed));
  }

  writeZeroes(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    return this.bitmaps.track(offset, length, () => this.#zeroer.zero(offset, length, options));
  }

  discard(offset: number, length: number, options: RequestOptions): MaybePromise<void> {
    return this.bitmaps.track(offset, length, () => this.#zeroer.discard(offset, length, options));
  }
}
