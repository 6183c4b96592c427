import { alignUp } from '@blockyard/core';
import type { L1Table } from './l1.ts';
import type { Table } from './tables.ts';

/**
 * Where the image's metadata is. Guest data that an entry places there is never handed out: it is a damaged or made-up
 * image, and the bytes would be a table's.
 */
export class MetadataGuard {
  readonly #clusterSize: number;
  readonly #tables: readonly Table[];
  readonly #refcountBlocks: Float64Array;
  readonly #l1: L1Table;
  #l2: Float64Array | undefined;

  constructor(clusterSize: number, tables: readonly Table[], refcountBlocks: Float64Array, l1: L1Table) {
    this.#clusterSize = clusterSize;
    // Nothing else lies in the clusters of a table.
    this.#tables = tables.map((table) => ({ ...table, length: alignUp(table.length, clusterSize) }));
    this.#refcountBlocks = refcountBlocks.sort();
    this.#l1 = l1;
  }

  /** What of the metadata the bytes from `start` to `end` touch, but for L2 tables. */
  fixed(start: number, end: number): string | undefined {
    if (start < this.#clusterSize) return 'the header';
    for (const table of this.#tables) {
      if (start < table.offset + table.length && table.offset < end) return table.what;
    }
    return this.#touches(this.#refcountBlocks, start, end) ? 'a refcount block' : undefined;
  }

  any(start: number, end: number): string | undefined {
    return this.#touches(this.#l2Tables(), start, end) ? 'an L2 table' : this.fixed(start, end);
  }

  /** Whether more than one L1 entry leads to the L2 table: a small file could show endless disks that way. */
  isShared(table: number): boolean {
    const sorted = this.#l2Tables();
    return sorted[firstAbove(sorted, table) - 2] === table;
  }

  /** Sorted at the first use: telling an image's properties needs none of it. */
  #l2Tables(): Float64Array {
    this.#l2 ??= this.#l1.used().sort();
    return this.#l2;
  }

  #touches(sorted: Float64Array, start: number, end: number): boolean {
    const at = firstAbove(sorted, start - this.#clusterSize);
    return at < sorted.length && (sorted[at] as number) < end;
  }
}

/** Index of the first number that is larger. */
function firstAbove(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** "Refcount table": offsets of the refcount blocks. Entries that make no sense are for a check to tell of. */
export function refcountBlocks(table: Uint8Array, clusterSize: number): Float64Array {
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const found: number[] = [];
  for (let at = 0; at + 8 <= table.length; at += 8) {
    const lo = view.getUint32(at + 4);
    const offset = view.getUint32(at) * 2 ** 32 + lo;
    if (offset !== 0 && Number.isSafeInteger(offset) && lo % clusterSize === 0) found.push(offset);
  }
  return Float64Array.from(found);
}
