const pageBytes = 4096;
const pageBits = pageBytes * 8;
/** Stands for every page whose bits are all set: it takes no memory, and is never written. */
const full = new Uint8Array(pageBytes).fill(0xff);
const ones = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Bits in the order in which an image stores them, in memory only where some are set and some are not. */
export class DirtyBits {
  #length: number;
  readonly #pages: (Uint8Array | undefined)[] = [];
  /** Some bit has become another since this was last made false. */
  changed = false;

  constructor(length: number) {
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  /** Sets the bits from `first` to `last`, both included. */
  set(first: number, last: number): void {
    const firstPage = Math.floor(first / pageBits);
    const lastPage = Math.floor(last / pageBits);
    for (let index = firstPage; index <= lastPage; index++) {
      const from = index === firstPage ? first - index * pageBits : 0;
      const to = index === lastPage ? last - index * pageBits : pageBits - 1;
      const page = this.#pages[index];
      if (page === full) continue;
      if (from === 0 && to === pageBits - 1) {
        this.#put(index, full);
        this.changed = true;
      } else if (setIn(page ?? this.#make(index), from, to)) this.changed = true;
    }
  }

  clear(): void {
    this.changed ||= this.#pages.length > 0;
    this.#pages.length = 0;
  }

  /** Sets what is set in `other`, which has the same length. */
  merge(other: DirtyBits): void {
    other.#pages.forEach((theirs, index) => {
      const page = this.#pages[index];
      if (theirs === undefined || page === full) return;
      this.changed = true;
      if (theirs === full) this.#put(index, full);
      else if (page === undefined) this.#put(index, theirs.slice());
      else for (let at = 0; at < pageBytes; at++) page[at] = (page[at] as number) | (theirs[at] as number);
    });
  }

  /** Bits beyond the old end are clear. */
  resize(length: number): void {
    if (length === this.#length) return;
    this.#length = length;
    this.changed = true;
    this.#trim();
  }

  /** How many are set. */
  count(): number {
    let count = 0;
    for (const page of this.#pages) {
      if (page === full) count += pageBits;
      else if (page) for (let at = 0; at < pageBytes; at++) count += ones[page[at] as number] as number;
    }
    return count;
  }

  /** The first bit at or after `from` that has this value; the length where there is none. */
  find(from: number, value: boolean): number {
    while (from < this.#length) {
      const index = Math.floor(from / pageBits);
      const page = this.#pages[index];
      const uniform = page === undefined ? false : page === full ? true : undefined;
      if (uniform === value) return from;
      if (uniform === undefined) {
        const found = findIn(page as Uint8Array, from - index * pageBits, value ? 0 : 0xff);
        if (found < pageBits) return Math.min(index * pageBits + found, this.#length);
      }
      from = (index + 1) * pageBits;
    }
    return this.#length;
  }

  /** Sets the bits that are set in `bytes`, as they are stored from the bit `first` on, a multiple of eight. */
  load(first: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const bit = first + at * 8;
      const index = Math.floor(bit / pageBits);
      const start = (bit - index * pageBits) / 8;
      const part = bytes.subarray(at, at + Math.min(bytes.length - at, pageBytes - start));
      at += part.length;
      if (bit >= this.#length || part.every((byte) => byte === 0)) continue;
      const page = this.#pages[index];
      if (page === full) continue;
      const into = page ?? this.#make(index);
      for (let i = 0; i < part.length; i++)
        into[start + i] = (into[start + i] as number) | (part[i] as number);
    }
    this.#trim();
  }

  /** The bits from `first` on, as they are stored; those beyond the end are clear. */
  copy(first: number, into: Uint8Array): void {
    for (let at = 0; at < into.length; ) {
      const bit = first + at * 8;
      const index = Math.floor(bit / pageBits);
      const start = (bit - index * pageBits) / 8;
      const bytes = Math.min(into.length - at, pageBytes - start);
      const page = this.#pages[index];
      if (page) into.set(page.subarray(start, start + bytes), at);
      else into.fill(0, at, at + bytes);
      at += bytes;
    }
  }

  #make(index: number): Uint8Array {
    const page = new Uint8Array(pageBytes);
    this.#put(index, page);
    return page;
  }

  /** Without a gap, which would make the list slow for good. */
  #put(index: number, page: Uint8Array): void {
    while (this.#pages.length < index) this.#pages.push(undefined);
    this.#pages[index] = page;
  }

  /** Clears what is beyond the end. */
  #trim(): void {
    const index = Math.floor(this.#length / pageBits);
    const rest = this.#length - index * pageBits;
    if (this.#pages.length > index + 1) this.#pages.length = index + 1;
    let page = this.#pages[index];
    if (page === undefined) return;
    if (rest === 0) {
      this.#pages.length = index;
      return;
    }
    if (page === full) {
      page = full.slice();
      this.#pages[index] = page;
    }
    const byte = rest >>> 3;
    page[byte] = (page[byte] as number) & ((1 << (rest & 7)) - 1);
    page.fill(0, byte + 1);
  }
}

/** Whether some were not set before. */
function setIn(page: Uint8Array, first: number, last: number): boolean {
  const firstByte = first >>> 3;
  const lastByte = last >>> 3;
  const head = (0xff << (first & 7)) & 0xff;
  const tail = 0xff >>> (7 - (last & 7));
  if (firstByte === lastByte) return setByte(page, firstByte, head & tail);
  let changed = setByte(page, firstByte, head);
  for (let at = firstByte + 1; at < lastByte; at++) if (setByte(page, at, 0xff)) changed = true;
  return setByte(page, lastByte, tail) || changed;
}

function setByte(page: Uint8Array, at: number, mask: number): boolean {
  const byte = page[at] as number;
  page[at] = byte | mask;
  return (byte & mask) !== mask;
}

/** The first bit at or after `from` in which a byte differs from `other`; the size of a page where there is none. */
function findIn(page: Uint8Array, from: number, other: number): number {
  let at = from >>> 3;
  let bits = ((page[at] as number) ^ other) & (0xff << (from & 7)) & 0xff;
  while (bits === 0) {
    if (++at === pageBytes) return pageBits;
    bits = (page[at] as number) ^ other;
  }
  return at * 8 + 31 - Math.clz32(bits & -bits);
}
