import {
  codeOrder,
  distanceBase,
  distanceExtra,
  fixedDistances,
  fixedLiterals,
  lengthBase,
  lengthExtra,
} from './deflate-tables.ts';
import { Huffman, HuffmanError } from './huffman.ts';

// RFC 1951. Written out because a qcow2 cluster's stream is followed by padding or by the next cluster, and the
// platform's DecompressionStream must reject what follows a stream, output and all.

let fixed: { literals: Huffman; distances: Huffman } | undefined;

function fixedCodes(): { literals: Huffman; distances: Huffman } {
  fixed ??= { literals: new Huffman(fixedLiterals), distances: new Huffman(fixedDistances) };
  return fixed;
}

/** Decodes the deflate stream at the start of `input`, of at most `length` bytes, and ignores what follows it. */
export function inflateRaw(input: Uint8Array, length: number): Uint8Array {
  return new Inflater(input, length).run();
}

class EarlyEnd extends HuffmanError {}

class Inflater {
  readonly #input: Uint8Array;
  readonly #output: Uint8Array;
  #read = 0;
  #written = 0;
  #bits = 0;
  #bitCount = 0;

  constructor(input: Uint8Array, length: number) {
    this.#input = input;
    this.#output = new Uint8Array(length);
  }

  /** A stream that gave all its bytes may lack its end: QEMU takes such clusters, and no byte of them is in doubt. */
  run(): Uint8Array {
    try {
      this.#blocks();
    } catch (error) {
      if (!(error instanceof EarlyEnd && this.#written === this.#output.length)) throw error;
    }
    return this.#output.subarray(0, this.#written);
  }

  #blocks(): void {
    for (let last = 0; !last; ) {
      last = this.#take(1);
      const type = this.#take(2);
      if (type === 0) this.#stored();
      else if (type === 1) this.#coded(fixedCodes());
      else if (type === 2) this.#coded(this.#dynamicCodes());
      else throw new HuffmanError('a block has an unknown type');
    }
  }

  /** Fills the bit buffer as far as it goes: up to 32 bits, or to the end of the input. */
  #fill(): void {
    while (this.#bitCount <= 24 && this.#read < this.#input.length) {
      this.#bits |= (this.#input[this.#read++] as number) << this.#bitCount;
      this.#bitCount += 8;
    }
  }

  #take(count: number): number {
    if (count === 0) return 0;
    if (this.#bitCount < count) this.#fill();
    if (this.#bitCount < count) throw new EarlyEnd('the data ends early');
    const value = this.#bits & ((1 << count) - 1);
    this.#bits >>>= count;
    this.#bitCount -= count;
    return value;
  }

  #symbol(code: Huffman): number {
    if (this.#bitCount < 15) this.#fill();
    const found = code.find(this.#bits);
    const count = found & 15;
    if (count > this.#bitCount) throw new EarlyEnd('the data ends early');
    this.#bits >>>= count;
    this.#bitCount -= count;
    return found >>> 4;
  }

  #stored(): void {
    this.#take(this.#bitCount & 7);
    const count = this.#take(16);
    if ((this.#take(16) ^ 0xffff) !== count)
      throw new HuffmanError('the length of a stored block is damaged');
    // Whole bytes may wait in the bit buffer.
    this.#read -= this.#bitCount >> 3;
    this.#bits = this.#bitCount = 0;
    if (this.#read + count > this.#input.length) throw new EarlyEnd('the data ends early');
    this.#room(count);
    this.#output.set(this.#input.subarray(this.#read, this.#read + count), this.#written);
    this.#read += count;
    this.#written += count;
  }

  #dynamicCodes(): { literals: Huffman; distances: Huffman } {
    const literalCount = this.#take(5) + 257;
    const distanceCount = this.#take(5) + 1;
    const codeCount = this.#take(4) + 4;
    if (literalCount > 286 || distanceCount > 30) throw new HuffmanError('a block has too many symbols');
    const lengths = new Uint8Array(19);
    for (let i = 0; i < codeCount; i++) lengths[codeOrder[i] as number] = this.#take(3);
    const codes = new Huffman(lengths);
    const all = new Uint8Array(literalCount + distanceCount);
    for (let at = 0; at < all.length; ) {
      const symbol = this.#symbol(codes);
      if (symbol < 16) {
        all[at++] = symbol;
        continue;
      }
      if (symbol === 16 && at === 0) throw new HuffmanError('a code length repeats nothing');
      const value = symbol === 16 ? (all[at - 1] as number) : 0;
      const count =
        symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7);
      if (at + count > all.length) throw new HuffmanError('there are too many code lengths');
      all.fill(value, at, at + count);
      at += count;
    }
    if (all[256] === 0) throw new HuffmanError('a block cannot end');
    return {
      literals: new Huffman(all.subarray(0, literalCount)),
      distances: new Huffman(all.subarray(literalCount)),
    };
  }

  #coded({ literals, distances }: { literals: Huffman; distances: Huffman }): void {
    const output = this.#output;
    for (;;) {
      const symbol = this.#symbol(literals);
      if (symbol < 256) {
        this.#room(1);
        output[this.#written++] = symbol;
        continue;
      }
      if (symbol === 256) return;
      if (symbol > 285) throw new HuffmanError('a length has an unknown code');
      const count = (lengthBase[symbol - 257] as number) + this.#take(lengthExtra[symbol - 257] as number);
      const code = this.#symbol(distances);
      if (code > 29) throw new HuffmanError('a distance has an unknown code');
      const distance = (distanceBase[code] as number) + this.#take(distanceExtra[code] as number);
      if (distance > this.#written) throw new HuffmanError('a distance leads before the start');
      this.#room(count);
      let at = this.#written;
      this.#written += count;
      if (distance >= count) output.copyWithin(at, at - distance, at - distance + count);
      else for (const end = at + count; at < end; at++) output[at] = output[at - distance] as number;
    }
  }

  #room(count: number): void {
    if (this.#written + count > this.#output.length)
      throw new HuffmanError(`it holds more than ${this.#output.length} bytes`);
  }
}
