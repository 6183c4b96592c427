export class HuffmanError extends Error {
  override readonly name = 'HuffmanError';
}

const fastBits = 10;
const mostBits = 15;

/** RFC 1951, section 3.2.2: a code given by the lengths of its symbols' codes. */
export class Huffman {
  /** By the next ten bits: symbol and length of its code, 0 where that is longer. */
  readonly #fast = new Uint16Array(1 << fastBits);
  readonly #counts = new Uint16Array(mostBits + 1);
  /** In the order of their codes. */
  readonly #symbols: Uint16Array;

  constructor(lengths: Uint8Array) {
    const counts = this.#counts;
    for (const length of lengths) counts[length] = (counts[length] as number) + 1;
    counts[0] = 0;
    const next = new Uint16Array(mostBits + 1);
    const places = new Uint16Array(mostBits + 1);
    let left = 1;
    let longest = 0;
    for (let length = 1, code = 0, place = 0; length <= mostBits; length++) {
      const count = counts[length] as number;
      left = left * 2 - count;
      if (left < 0) throw new HuffmanError('the code lengths are too many');
      if (count > 0) longest = length;
      code = (code + (counts[length - 1] as number)) << 1;
      next[length] = code;
      places[length] = place;
      place += count;
    }
    // A code for one symbol, or none, may leave the rest of its space unused.
    if (left > 0 && longest > 1) throw new HuffmanError('the code lengths are too few');
    this.#symbols = new Uint16Array(lengths.length);
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      const length = lengths[symbol] as number;
      if (length === 0) continue;
      const place = places[length] as number;
      places[length] = place + 1;
      this.#symbols[place] = symbol;
      const code = next[length] as number;
      next[length] = code + 1;
      if (length <= fastBits) {
        const entry = (symbol << 4) | length;
        for (let at = reverse(code, length); at < 1 << fastBits; at += 1 << length) this.#fast[at] = entry;
      }
    }
  }

  /** The symbol whose code `bits` begin with, lowest bit first: symbol << 4 | bits of its code. */
  find(bits: number): number {
    const entry = this.#fast[bits & ((1 << fastBits) - 1)] as number;
    return entry !== 0 ? entry : this.#findLong(bits);
  }

  #findLong(bits: number): number {
    let code = 0;
    let first = 0;
    let place = 0;
    for (let length = 1; length <= mostBits; length++) {
      code |= (bits >>> (length - 1)) & 1;
      const count = this.#counts[length] as number;
      if (code - first < count) return ((this.#symbols[place + code - first] as number) << 4) | length;
      place += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new HuffmanError('a code has no symbol');
  }
}

function reverse(code: number, length: number): number {
  let reversed = 0;
  for (let i = 0; i < length; i++) reversed |= ((code >>> i) & 1) << (length - 1 - i);
  return reversed;
}
