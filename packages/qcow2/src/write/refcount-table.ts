import { viewOf } from '../bytes.ts';

/** "Refcount table": where the refcount block of each range of clusters is. Kept whole. */
export class RefcountTable {
  offset: number;
  #bytes: Uint8Array;
  #view: DataView;
  #dirty = new Set<number>();

  constructor(offset: number, bytes: Uint8Array) {
    this.offset = offset;
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get length(): number {
    return this.#bytes.length / 8;
  }

  /** Offset of a block; 0 where there is none. Bits 0 to 8 are reserved. */
  at(index: number): number {
    if (index >= this.length) return 0;
    return (
      this.#view.getUint32(index * 8) * 2 ** 32 + ((this.#view.getUint32(index * 8 + 4) & 0xfffffe00) >>> 0)
    );
  }

  set(index: number, offset: number): void {
    this.#view.setUint32(index * 8, Math.floor(offset / 2 ** 32));
    this.#view.setUint32(index * 8 + 4, offset % 2 ** 32);
    this.#dirty.add(index);
  }

  /** The table as it is in memory; not a copy. */
  bytes(): Uint8Array {
    return this.#bytes;
  }

  replace(offset: number, bytes: Uint8Array): void {
    this.offset = offset;
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#dirty.clear();
  }

  get dirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** The changed entries, unchanged from now on, with copies of their bytes. */
  take(): { at: number; bytes: Uint8Array }[] {
    const taken = [...this.#dirty].map((index) => ({
      at: index * 8,
      bytes: this.#bytes.slice(index * 8, index * 8 + 8),
    }));
    this.#dirty.clear();
    return taken;
  }

  kept(taken: readonly { at: number }[]): void {
    for (const { at } of taken) this.#dirty.add(at / 8);
  }
}
