import type { IoData, Memory } from '@blockyard/core';

/**
 * WebAssembly memory is page aligned, which no other memory is known to be from JavaScript. Each one reserves
 * gigabytes of address space, so there are few, of fixed size (they must never move), committed when touched.
 */
const slabBytes = 64 << 20;
const wasmPage = 65536;
const smallest = 4096;

/** Only the DOM's types describe it. */
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer } };
};

interface Slab {
  readonly buffer: ArrayBuffer;
  readonly lent: Map<number, number>;
  top: number;
}

/** Lends aligned views of its slabs, in sizes of powers of two. */
class WasmMemory implements Memory {
  readonly #slabs = new Map<ArrayBufferLike, Slab>();
  readonly #free = new Map<number, { slab: Slab; offset: number }[]>();

  constructor() {
    this.#grow(slabBytes);
  }

  allocate(length: number, alignment: number): Uint8Array {
    const size = 2 ** Math.ceil(Math.log2(Math.max(length, alignment, smallest)));
    const { slab, offset } = this.#free.get(size)?.pop() ?? this.#carve(size);
    slab.lent.set(offset, size);
    return new Uint8Array(slab.buffer, offset, length);
  }

  release(view: Uint8Array): void {
    const slab = this.#slabs.get(view.buffer);
    const size = slab?.lent.get(view.byteOffset);
    if (!slab || size === undefined) return;
    slab.lent.delete(view.byteOffset);
    const place = { slab, offset: view.byteOffset };
    const list = this.#free.get(size);
    if (list) list.push(place);
    else this.#free.set(size, [place]);
  }

  /** Not aligned: a part of a slab cannot be left to the garbage collector. The pipeline copies it. */
  create(length: number): Uint8Array {
    return new Uint8Array(length);
  }

  isAligned(data: IoData, alignment: number): boolean {
    if (!Array.isArray(data)) return this.#fits(data as Uint8Array, alignment);
    return (data as readonly Uint8Array[]).every((view) => this.#fits(view, alignment));
  }

  #fits(view: Uint8Array, alignment: number): boolean {
    return (
      view.byteOffset % alignment === 0 && view.byteLength % alignment === 0 && this.#slabs.has(view.buffer)
    );
  }

  #carve(size: number): { slab: Slab; offset: number } {
    for (const slab of this.#slabs.values()) {
      const offset = Math.ceil(slab.top / size) * size;
      if (offset + size > slab.buffer.byteLength) continue;
      slab.top = offset + size;
      return { slab, offset };
    }
    const slab = this.#grow(Math.max(size, slabBytes));
    slab.top = size;
    return { slab, offset: 0 };
  }

  #grow(bytes: number): Slab {
    const pages = bytes / wasmPage;
    const { buffer } = new wasm.Memory({ initial: pages, maximum: pages });
    const slab: Slab = { buffer, lent: new Map(), top: 0 };
    this.#slabs.set(buffer, slab);
    return slab;
  }
}

let shared: WasmMemory | undefined;

/** @throws RangeError where the address space is limited and the memory cannot be reserved. */
export function wasmMemory(): Memory {
  return (shared ??= new WasmMemory());
}
