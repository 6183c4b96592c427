import { BlockError, type BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { corrupt, truncated } from '../failure.ts';
import { checkTable, readTable } from '../tables.ts';
import type { DirtyBits } from './dirty-bits.ts';
import type { Transition } from './transition.ts';

/** "Bitmap table": what an entry says of the clusters that are not stored. */
const allOnes = 1;
const offsetLow = 0xfffffe00;
const offsetHigh = 0x00ffffff;
/** A cluster of bits at a time is read and written; small ones in larger pieces would gain little. */
const bitsOf = (clusterSize: number): number => clusterSize * 8;

/** Where a bitmap is stored. */
export interface StoredBitmap {
  tableOffset: number;
  /** Entries of the table. */
  tableSize: number;
}

/** One entry of a bitmap table: a cluster of the file, or what all its bits are. */
type Piece = { offset: number } | boolean;

async function readPieces(
  file: BlockNode,
  clusterSize: number,
  name: string,
  stored: StoredBitmap,
): Promise<Piece[]> {
  if (stored.tableSize === 0) return [];
  const what = `the table of bitmap '${name}'`;
  const table = { what, offset: stored.tableOffset, length: stored.tableSize * 8 };
  checkTable(file, clusterSize, table, file.size);
  const view = viewOf(await readTable(file, table));
  const seen = new Set<number>();
  const pieces: Piece[] = [];
  for (let at = 0; at < table.length; at += 8) {
    const high = view.getUint32(at);
    const low = view.getUint32(at + 4);
    const place = (high & offsetHigh) * 2 ** 32 + ((low & offsetLow) >>> 0);
    const ones = (low & allOnes) !== 0;
    const valid =
      (high & ~offsetHigh) === 0 && (low & ~offsetLow & ~allOnes) === 0 && place % clusterSize === 0;
    if (!valid || (ones && place !== 0) || seen.has(place))
      throw corrupt(file, `${what} has an entry that is not valid`, table.offset + at);
    if (place === 0) {
      pieces.push(ones);
      continue;
    }
    if (place >= file.size) throw truncated(file, `a part of bitmap '${name}'`, place, file.size);
    seen.add(place);
    pieces.push({ offset: place });
  }
  return pieces;
}

/** Sets in `bits` what is set in the image. */
export async function loadBits(
  file: BlockNode,
  clusterSize: number,
  name: string,
  stored: StoredBitmap,
  bits: DirtyBits,
): Promise<void> {
  const pieces = await readPieces(file, clusterSize, name, stored);
  const each = bitsOf(clusterSize);
  if (pieces.length * each < bits.length) {
    const text = `the table of bitmap '${name}' has ${pieces.length} entries, too few for this disk`;
    throw corrupt(file, text, stored.tableOffset);
  }
  const cluster = new Uint8Array(clusterSize);
  for (const [i, piece] of pieces.entries()) {
    const first = i * each;
    if (first >= bits.length || piece === false) continue;
    if (piece === true) bits.set(first, Math.min(first + each, bits.length) - 1);
    else {
      const length = Math.min(clusterSize, file.size - piece.offset);
      await file.read(piece.offset, cluster.subarray(0, length));
      bits.load(first, cluster.subarray(0, length));
    }
  }
}

/** Writes `bits` to new clusters. */
export async function storeBits(
  transition: Transition,
  name: string,
  bits: DirtyBits,
): Promise<StoredBitmap> {
  const { clusterSize } = transition.image.header;
  const each = bitsOf(clusterSize);
  const tableSize = Math.ceil(bits.length / each);
  // An empty disk has bitmaps too, and QEMU wants their tables to be somewhere.
  const table = new Uint8Array(Math.max(1, tableSize) * 8);
  const view = viewOf(table);
  const cluster = new Uint8Array(clusterSize);
  for (let i = 0; i < tableSize; i++) {
    const first = i * each;
    const end = Math.min(first + each, bits.length);
    if (bits.find(first, true) >= end) continue;
    if (bits.find(first, false) >= end) {
      view.setUint32(i * 8 + 4, allOnes);
      continue;
    }
    bits.copy(first, cluster);
    view.setBigUint64(i * 8, BigInt(await transition.add(`a part of bitmap '${name}'`, cluster)));
  }
  const tableOffset = await transition.add(`the table of bitmap '${name}'`, table);
  return { tableOffset, tableSize: table.length / 8 };
}

/** Gives up the clusters of a bitmap that the header will not lead to any more. */
export async function dropBits(transition: Transition, name: string, stored: StoredBitmap): Promise<void> {
  const { image, counts } = transition;
  const { clusterSize } = image.header;
  const what = `bitmap '${name}'`;
  // What is damaged can be got rid of all the same: its clusters are leaked then, for a check to find.
  const pieces = await readPieces(image.file, clusterSize, name, stored).catch((error: unknown) => {
    if (error instanceof BlockError && error.kind === 'image') return undefined;
    throw error;
  });
  if (!pieces) return;
  for (const piece of pieces) {
    if (typeof piece === 'object') await counts.change(what, piece.offset, clusterSize, -1);
  }
  if (stored.tableSize > 0) await counts.change(what, stored.tableOffset, stored.tableSize * 8, -1);
}
