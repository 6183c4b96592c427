import { CompressedDescriptor } from '../descriptor.ts';
import type { Image } from '../image.ts';
import type { Slice } from '../metadata-cache.ts';
import { compressedFlag, zeroFlag } from '../table-entry.ts';
import type { Entries } from './entries.ts';
import type { Why } from './reclaimer.ts';

/** Changes entries, and gives up what they led to. All of it at once: nothing waits between. */
export class Linker {
  readonly #image: Image;
  readonly #entries: Entries;
  readonly #descriptor: CompressedDescriptor;

  constructor(image: Image, entries: Entries) {
    this.#image = image;
    this.#entries = entries;
    this.#descriptor = new CompressedDescriptor(image.header.clusterBits);
  }

  /** The cluster is at `place`, a new one; `mask` of its subclusters are there, the others stay as they are. */
  place(slice: Slice, index: number, place: number, mask: number): void {
    const entries = this.#entries;
    const kept = entries.extended && !entries.isCompressed(slice, index);
    const zeroes = kept ? entries.zeroes(slice, index) & ~mask : 0;
    this.giveUp(slice, index, 'other');
    entries.setPlace(slice, index, place);
    if (entries.extended) entries.setBits(slice, index, zeroes, mask);
  }

  /** The cluster stays where it is, and `mask` of its subclusters are there now. */
  fill(slice: Slice, index: number, mask: number): void {
    const entries = this.#entries;
    if (!entries.extended) {
      entries.setRaw(slice, index, entries.hi(slice, index), (entries.lo(slice, index) & ~zeroFlag) >>> 0);
      return;
    }
    const zeroes = entries.zeroes(slice, index) & ~mask;
    entries.setBits(slice, index, zeroes, entries.allocated(slice, index) | mask);
  }

  /** Compressed data of so many bytes at `offset`. */
  compressed(slice: Slice, index: number, offset: number, bytes: number): void {
    this.giveUp(slice, index, 'other');
    const { hi, lo } = this.#descriptor.encode(offset, bytes);
    this.#entries.setRaw(slice, index, (compressedFlag | hi) >>> 0, lo);
    if (this.#entries.extended) this.#entries.setBits(slice, index, 0, 0);
  }

  /** What the entry leads to loses this reference. The entry has to be changed at once. */
  giveUp(slice: Slice, index: number, why: Why): void {
    const entries = this.#entries;
    const place = entries.place(slice, index);
    if (entries.isCompressed(slice, index)) {
      const { offset, clusters } = this.#descriptor.clusters(
        entries.hi(slice, index),
        entries.lo(slice, index),
      );
      this.#release(offset, clusters, why);
    } else if (place !== 0 && !this.#image.header.externalData) this.#release(place, 1, why);
  }

  #release(offset: number, clusters: number, why: Why): void {
    this.#image.checkGivenUp(offset, clusters);
    this.#image.reclaimer.release(offset, clusters, why);
  }
}
