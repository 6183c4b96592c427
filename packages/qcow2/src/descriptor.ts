/**
 * "Compressed Clusters Descriptor": x = 62 - (cluster_bits - 8) bits of offset, then the number of 512-byte sectors
 * that follow the one the data starts in. The sectors over-state the length: the decoder finds the end.
 */
export class CompressedDescriptor {
  readonly #clusterSize: number;
  readonly #offsetBitsHigh: number;
  readonly #offsetMaskHigh: number;

  constructor(clusterBits: number) {
    this.#clusterSize = 2 ** clusterBits;
    // The field's border lies in the high half for every cluster size: x is 49 to 61.
    this.#offsetBitsHigh = 62 - (clusterBits - 8) - 32;
    this.#offsetMaskHigh = 2 ** this.#offsetBitsHigh - 1;
  }

  /** May exceed 2^53, where no file reaches. */
  offset(hi: number, lo: number): number {
    return (hi & this.#offsetMaskHigh) * 2 ** 32 + lo;
  }

  /** Bytes from the offset to the end of its last sector. */
  stored(hi: number, lo: number): number {
    const sectors = ((hi & 0x3fffffff) >>> this.#offsetBitsHigh) + 1;
    return sectors * 512 - (lo & 511);
  }

  /** Byte offset of the first cluster that the data touches, and how many it does. */
  clusters(hi: number, lo: number): { offset: number; clusters: number } {
    const start = this.offset(hi, lo);
    const first = Math.floor(start / this.#clusterSize);
    const last = Math.floor((start + this.stored(hi, lo) - 1) / this.#clusterSize);
    return { offset: first * this.#clusterSize, clusters: last - first + 1 };
  }

  /** The two halves of an entry for `bytes` of data at `offset`, without its flags. */
  encode(offset: number, bytes: number): { hi: number; lo: number } {
    const further = Math.floor((offset + bytes - 1) / 512) - Math.floor(offset / 512);
    const sectors = further * 2 ** this.#offsetBitsHigh;
    return { hi: Math.floor(offset / 2 ** 32) + sectors, lo: offset % 2 ** 32 };
  }
}
