import { OffsetTable } from '../offset-table.ts';

/** "Refcount table": where the refcount block of each range of clusters is. Kept whole. */
export class RefcountTable extends OffsetTable {
  offset: number;

  constructor(offset: number, bytes: Uint8Array) {
    super(bytes, 8);
    this.offset = offset;
  }

  /** Offset of a block; 0 where there is none. Bits 0 to 8 are reserved. */
  at(index: number): number {
    if (index >= this.length) return 0;
    return (
      this.view.getUint32(index * 8) * 2 ** 32 + ((this.view.getUint32(index * 8 + 4) & 0xfffffe00) >>> 0)
    );
  }

  set(index: number, offset: number): void {
    this.put(index, offset, false);
  }

  replace(offset: number, bytes: Uint8Array): void {
    this.offset = offset;
    this.become(bytes);
  }
}
