import { OffsetTable } from './offset-table.ts';
import { copiedFlag, entryOffset } from './table-entry.ts';

/** What is written of it at a time. */
const sectorBytes = 512;

/**
 * "L1 table": for each part of the disk that one L2 table covers, where that table is. Kept whole: it is small against
 * the file that holds it, and a lookup must not wait for it.
 */
export class L1Table extends OffsetTable {
  constructor(bytes: Uint8Array) {
    super(bytes, sectorBytes);
  }

  /** Offset of the L2 table; 0 where there is none. */
  at(index: number): number {
    return entryOffset(this.view.getUint32(index * 8), this.view.getUint32(index * 8 + 4));
  }

  isCopied(index: number): boolean {
    return (this.view.getUint32(index * 8) & copiedFlag) !== 0;
  }

  set(index: number, offset: number, copied: boolean): void {
    this.put(index, offset, copied);
  }

  replace(bytes: Uint8Array): void {
    this.become(bytes);
  }

  /** The first index from `index` on, and before `end`, that has an L2 table; `end` when there is none. */
  nextUsed(index: number, end: number): number {
    let at = index;
    while (at < end && this.at(at) === 0) at++;
    return at;
  }

  /** The offsets of all L2 tables, in no order. */
  used(): Float64Array {
    let count = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) count++;
    const found = new Float64Array(count);
    let next = 0;
    for (let i = 0; i < this.length; i++) if (this.at(i) !== 0) found[next++] = this.at(i);
    return found;
  }
}
