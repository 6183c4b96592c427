import { packRefcounts } from './refcounts.ts';

const offsetMask = 0x00fffffffffffe00n;
export const copied = 1n << 63n;

/** The bytes of an image, its structures found, to be damaged. Works on a copy. */
export class Damage {
  readonly bytes: Uint8Array;
  readonly view: DataView;

  constructor(image: Uint8Array) {
    this.bytes = image.slice();
    this.view = new DataView(this.bytes.buffer);
  }

  get clusterSize(): number {
    return 2 ** this.view.getUint32(20);
  }

  get l1(): number {
    return this.place(40);
  }

  get refcountTable(): number {
    return this.place(48);
  }

  get snapshots(): number {
    return this.place(64);
  }

  /** The first refcount block. */
  get block(): number {
    return this.place(this.refcountTable);
  }

  /** The L2 table of an L1 entry. */
  l2(index = 0): number {
    return this.place(this.l1 + index * 8);
  }

  get(at: number): bigint {
    return this.view.getBigUint64(at);
  }

  put(at: number, value: bigint | number): this {
    this.view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)));
    return this;
  }

  or(at: number, bits: bigint): this {
    return this.put(at, this.get(at) | bits);
  }

  clear(at: number, bits: bigint): this {
    return this.put(at, this.get(at) & ~bits);
  }

  /** The offset in a header field or an entry. */
  place(at: number): number {
    return Number(this.get(at) & offsetMask);
  }

  /** Sets the refcount of a cluster that the first block counts. */
  refcount(cluster: number, value: number): this {
    const bits = 2 ** (this.view.getUint32(4) === 2 ? 4 : this.view.getUint32(96));
    const byte = Math.floor((cluster * bits) / 8);
    const packed = packRefcounts(new Map([[cluster, value]]), 0, (this.clusterSize * 8) / bits, bits);
    const keep =
      bits < 8 ? (this.bytes[this.block + byte] as number) & ~((2 ** bits - 1) << ((cluster * bits) % 8)) : 0;
    for (let i = byte; i < Math.ceil(((cluster + 1) * bits) / 8); i++)
      this.bytes[this.block + i] = (packed[i] as number) | keep;
    return this;
  }
}
