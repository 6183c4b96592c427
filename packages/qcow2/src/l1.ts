import { viewOf } from './bytes.ts';

const high = 2 ** 32;
const sectorBytes = 512;

/** Bits 9 to 55 of an L1 or L2 entry: a cluster's offset. May lie above 2^53, where no file reaches. */
export const entryOffset = (hi: number, lo: number): number =>
  (hi & 0x00ffffff) * high + ((lo & 0xfffffe00) >>> 0);

/** Bit 63 of an L1 or L2 entry: nothing else refers to the cluster, so that it may be written in place. */
export const copiedFlag = 0x80000000;

/**
 * "L1 table": for each part of the disk that one L2 table covers, where that table is. Kept whole: it is small against
 * the file that holds it, and a lookup must not wait for it.
 */
export class L1Table {
  #bytes: Uint8Array;
  #view: DataView;
  /** Sectors that were changed since they were last taken. */
  readonly #dirty = new Set<number>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get length(): number {
    return Math.floor(this.#bytes.length / 8);
  }

  /** Offset of the L2 table; 0 where there is none. */
  at(index: number): number {
    return entryOffset(this.#view.getUint32(index * 8), this.#view.getUint32(index * 8 + 4));
  }

  isCopied(index: number): boolean {
    return (this.#view.getUint32(index * 8) & copiedFlag) !== 0;
  }

  set(index: number, offset: number, copied: boolean): void {
    const hi = Math.floor(offset / high);
    this.#view.setUint32(index * 8, copied ? hi | copiedFlag : hi);
    this.#view.setUint32(index * 8 + 4, offset % high);
    this.#dirty.add(Math.floor((index * 8) / sectorBytes));
  }

  /** The first index from `index` on, and before `end`, that has an L2 table; `end` when there is none. */
  nextUsed(index: number, end: number): number {
    let at = index;
    while (at < end && this.at(at) === 0) at++;
    return at;
  }

  /** The offsets of all L2 tables, in no order. */
  used(): Float64Array {
    let count = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) count++;
    const found = new Float64Array(count);
    let next = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) found[next++] = this.at(i);
    return found;
  }

  /** The table as it is in memory; not a copy. */
  bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Becomes another table, which is in the file already. */
  replace(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#dirty.clear();
  }

  get dirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Copies of the changed sectors, by their byte in the table; they are unchanged from now on. */
  take(): { at: number; bytes: Uint8Array }[] {
    const taken = [...this.#dirty].map((sector) => {
      const at = sector * sectorBytes;
      return { at, bytes: this.#bytes.slice(at, at + sectorBytes) };
    });
    this.#dirty.clear();
    return taken;
  }

  kept(taken: readonly { at: number }[]): void {
    for (const { at } of taken) this.#dirty.add(at / sectorBytes);
  }
}
