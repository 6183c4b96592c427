import { createSlab } from './arena.ts';

const HUGE_PAGE = 2 << 20;
const MIN_CLASS = 4096;
/** Whole free slabs beyond this are left to the garbage collector, unless memory is short: then all are. */
const KEEP_BYTES = 64 << 20;

interface Slab {
  readonly buffer: ArrayBuffer;
  readonly size: number;
  /** Offset of the first block. */
  readonly first: number;
  readonly lent: Uint8Array;
  lentBlocks: number;
}

interface SizeClass {
  readonly size: number;
  readonly slabs: Set<Slab>;
  /** Free blocks, as pairs of slab and index. */
  readonly free: { slab: Slab; index: number }[];
}

/**
 * Aligned views of slabs, by size classes that are powers of two. A block is aligned to its class (up to 2 MiB), and
 * slabs hold whole huge pages where the class is worth it.
 */
export class Pool {
  readonly #classes = new Map<number, SizeClass>();
  readonly #slabs = new WeakMap<ArrayBufferLike, Slab>();
  readonly #advise: (view: Uint8Array) => void;
  #freeBytes = 0;
  #keepBytes = KEEP_BYTES;
  readonly stats = { lent: 0, lentBytes: 0, slabBytes: 0 };

  constructor(advise: (view: Uint8Array) => void) {
    this.#advise = advise;
  }

  allocate(length: number, alignment: number): Uint8Array {
    const size = classOf(Math.max(length, alignment, MIN_CLASS));
    let own = this.#classes.get(size);
    if (own === undefined) {
      own = { size, slabs: new Set(), free: [] };
      this.#classes.set(size, own);
    }
    const block = own.free.pop() ?? this.#grow(own);
    const { slab, index } = block;
    slab.lent[index] = 1;
    slab.lentBlocks++;
    this.#freeBytes -= size;
    this.stats.lent++;
    this.stats.lentBytes += length;
    return new Uint8Array(slab.buffer, slab.first + index * size, length);
  }

  release(view: Uint8Array): void {
    const slab = this.#slabs.get(view.buffer);
    const index = slab === undefined ? -1 : (view.byteOffset - slab.first) / slab.size;
    if (slab === undefined || slab.lent[index] !== 1) {
      throw new Error('this view is not lent by the pool: released twice, or not allocated here');
    }
    const own = this.#classes.get(slab.size) as SizeClass;
    slab.lent[index] = 0;
    slab.lentBlocks--;
    own.free.push({ slab, index });
    this.#freeBytes += slab.size;
    this.stats.lent--;
    this.stats.lentBytes -= view.byteLength;
    if (slab.lentBlocks === 0 && this.#freeBytes > this.#keepBytes) this.#drop(own, slab);
  }

  /** Memory is short: keeps no free slab from now on. */
  shrink(): void {
    this.#keepBytes = 0;
    for (const own of this.#classes.values()) {
      for (const slab of own.slabs) if (slab.lentBlocks === 0) this.#drop(own, slab);
    }
  }

  #grow(own: SizeClass): { slab: Slab; index: number } {
    const { size } = own;
    const alignment = Math.min(size, HUGE_PAGE);
    const total = size >= HUGE_PAGE ? size : Math.min(Math.max(size * 16, 256 << 10), 4 << 20);
    const start = total >= HUGE_PAGE ? HUGE_PAGE : alignment;
    const { buffer, address } = createSlab(total + start);
    const first = (start - (address % start)) % start;
    if (total >= HUGE_PAGE) this.#advise(new Uint8Array(buffer, first, total));
    const blocks = total / size;
    const slab: Slab = { buffer, size, first, lent: new Uint8Array(blocks), lentBlocks: 0 };
    own.slabs.add(slab);
    this.#slabs.set(buffer, slab);
    this.stats.slabBytes += buffer.byteLength;
    this.#freeBytes += total;
    for (let index = blocks - 1; index > 0; index--) own.free.push({ slab, index });
    return { slab, index: 0 };
  }

  #drop(own: SizeClass, slab: Slab): void {
    own.slabs.delete(slab);
    this.#slabs.delete(slab.buffer);
    const kept = own.free.filter((block) => block.slab !== slab);
    own.free.splice(0, own.free.length, ...kept);
    this.stats.slabBytes -= slab.buffer.byteLength;
    this.#freeBytes -= slab.lent.length * slab.size;
  }
}

function classOf(bytes: number): number {
  let size = MIN_CLASS;
  while (size < bytes) size *= 2;
  return size;
}
