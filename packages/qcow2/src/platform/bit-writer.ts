/** Puts bits together, lowest first, as deflate does, until there are too many. */
export class BitWriter {
  readonly #bytes: Uint8Array;
  #length = 0;
  #bits = 0;
  #bitCount = 0;

  constructor(most: number) {
    this.#bytes = new Uint8Array(most);
  }

  /** Of at most 16 bits. */
  put(value: number, count: number): void {
    this.#bits |= value << this.#bitCount;
    this.#bitCount += count;
    // What goes past the end is not stored, only counted.
    for (; this.#bitCount >= 8; this.#bitCount -= 8) {
      this.#bytes[this.#length++] = this.#bits & 255;
      this.#bits >>>= 8;
    }
  }

  /** All bytes, or undefined when there were too many. */
  finish(): Uint8Array | undefined {
    if (this.#bitCount > 0) this.put(0, 8 - this.#bitCount);
    return this.#length <= this.#bytes.length ? this.#bytes.subarray(0, this.#length) : undefined;
  }
}

/** RFC 1951, section 3.2.2: the codes to given lengths, their first bit lowest. */
export function codesOf(lengths: Uint8Array): Uint16Array {
  const next = new Uint16Array(17);
  for (const length of lengths) next[length + 1] = (next[length + 1] as number) + 1;
  next[1] = 0;
  for (let length = 1; length < 16; length++) {
    next[length] = ((next[length - 1] as number) + (next[length] as number)) << 1;
  }
  const codes = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    const code = next[length] as number;
    next[length] = code + 1;
    codes[symbol] = reversed(code, length);
  });
  return codes;
}

function reversed(code: number, length: number): number {
  let result = 0;
  for (let i = 0; i < length; i++) result = (result << 1) | ((code >>> i) & 1);
  return result;
}
