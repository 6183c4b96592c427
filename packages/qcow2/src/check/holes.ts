import type { BlockNode } from '@blockyard/core';

/** From this many bytes of tables on it pays to ask first: a sparse file can claim very many that are nothing but zeroes. */
const worthAsking = 2 ** 30;

/** Knows where a file that has very much to be read is zeroes anyway. */
export class Holes {
  readonly #file: BlockNode;
  readonly #asks: boolean;
  #start = 0;
  #end = 0;

  constructor(file: BlockNode, bytesToRead: number) {
    this.#file = file;
    this.#asks = bytesToRead > worthAsking && file.supports.blockStatus;
  }

  get asks(): boolean {
    return this.#asks;
  }

  /** Whether the bytes, which lie within the file, are zeroes without being read. */
  async covers(offset: number, length: number): Promise<boolean> {
    if (offset >= this.#start && offset + length <= this.#end) return true;
    const extent = await this.#file.blockStatus(offset, this.#file.size - offset);
    if (!extent.zero) return false;
    this.#start = extent.offset;
    this.#end = extent.offset + extent.length;
    return offset + length <= this.#end;
  }
}
