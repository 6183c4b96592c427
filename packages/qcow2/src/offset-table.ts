import { viewOf } from './bytes.ts';
import { putEntry } from './table-entry.ts';

/** A piece of a table to be written: where it is in the table, and its bytes. */
export interface TablePiece {
  at: number;
  bytes: Uint8Array;
}

/** A table of 64-bit entries that is kept in memory whole, and knows which pieces of it were changed. */
export abstract class OffsetTable {
  #bytes: Uint8Array;
  protected view: DataView;
  readonly #pieceBytes: number;
  /** Pieces that were changed since they were last taken. */
  readonly #dirty = new Set<number>();

  protected constructor(bytes: Uint8Array, pieceBytes: number) {
    this.#bytes = bytes;
    this.view = viewOf(bytes);
    this.#pieceBytes = pieceBytes;
  }

  get length(): number {
    return Math.floor(this.#bytes.length / 8);
  }

  protected put(index: number, offset: number, copied: boolean): void {
    putEntry(this.view, index * 8, offset, copied);
    this.#dirty.add(Math.floor((index * 8) / this.#pieceBytes));
  }

  /** The table as it is in memory; not a copy. */
  bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Becomes another table, which is in the file already. */
  protected become(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.view = viewOf(bytes);
    this.#dirty.clear();
  }

  get dirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Copies of the changed pieces, which are unchanged from now on. */
  take(): TablePiece[] {
    const taken = [...this.#dirty].map((piece) => {
      const at = piece * this.#pieceBytes;
      return { at, bytes: this.#bytes.slice(at, at + this.#pieceBytes) };
    });
    this.#dirty.clear();
    return taken;
  }

  /** They could not be written. */
  kept(taken: readonly TablePiece[]): void {
    for (const { at } of taken) this.#dirty.add(at / this.#pieceBytes);
  }
}
