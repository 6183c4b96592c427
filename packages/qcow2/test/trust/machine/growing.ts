/** Bytes that grow without being copied each time. What lies beyond the size is zero. */
export class Growing {
  #bytes: Uint8Array;
  #size: number;

  constructor(content: Uint8Array = new Uint8Array(0)) {
    this.#bytes = content;
    this.#size = content.length;
  }

  get size(): number {
    return this.#size;
  }

  /** The bytes themselves, until the size changes. */
  view(start = 0, end = this.#size): Uint8Array {
    return this.#bytes.subarray(start, end);
  }

  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#size);
  }

  resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2));
      larger.set(this.view());
      this.#bytes = larger;
    } else if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  /** Grows where it has to. */
  put(offset: number, bytes: Uint8Array): void {
    if (offset + bytes.length > this.#size) this.resize(offset + bytes.length);
    this.#bytes.set(bytes, offset);
  }
}
