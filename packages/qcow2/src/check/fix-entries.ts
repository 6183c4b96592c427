import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { compressedFlag, copiedFlag, entryOffset } from '../table-entry.ts';
import type { Counts } from './counts.ts';
import { readsZero } from './l2-walk.ts';
import { type Chunk, readPieces, readRange } from './read-ahead.ts';
import { writeSectors } from './sectors.ts';
import type { Survey } from './survey.ts';

/** Changes the entry at byte `at` when it has to be. @returns whether it did */
type Edit = (view: DataView, at: number, hi: number, lo: number) => boolean;

/**
 * Makes the copied flags of the disk as it is now what the refcounts in the file say: clears those that are set and
 * must not be, or sets those that are missing. Clearing only costs a copy at the next write; setting comes last, when
 * the refcounts that it relies on are durable. @returns how many
 */
export async function fixCopiedFlags(
  file: BlockNode,
  survey: Survey,
  change: 'clear' | 'set',
  signal: AbortSignal | undefined,
): Promise<number> {
  const { header, counts, sole } = survey;
  const { clusterSize, externalData } = header;
  const flip = (view: DataView, at: number, hi: number, isSole: boolean): boolean => {
    const isSet = hi >= copiedFlag;
    if (isSet === isSole || isSet !== (change === 'clear')) return false;
    view.setUint32(at, isSet ? hi - copiedFlag : hi + copiedFlag);
    return true;
  };
  // A refcount of 1 is not relied on where more than that was counted, or nothing.
  const isSole = (offset: number) =>
    sole.has(Math.floor(offset / clusterSize)) &&
    (change === 'clear' || (offset % clusterSize === 0 && counts.get(offset / clusterSize) === 1));
  let changed = await editL2Tables(file, survey, survey.activeL2Tables, signal, (view, at, hi, lo) => {
    const offset = entryOffset(hi, lo);
    if (hi & compressedFlag || offset === 0) return false;
    return flip(view, at, hi, externalData || isSole(offset));
  });
  changed += await editL1Table(file, survey, signal, (view, at, hi, lo) => {
    const offset = entryOffset(hi, lo);
    return offset !== 0 && flip(view, at, hi, isSole(offset));
  });
  if (changed > 0) await file.flush();
  return changed;
}

/** An entry that leads off a cluster and reads as zeroes gives up its place: nothing is lost with it. */
export async function dropMisplacedZeroes(
  file: BlockNode,
  survey: Survey,
  note: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { clusterSize, extendedL2 } = survey.header;
  const changed = await editL2Tables(file, survey, survey.l2Tables, signal, (view, at, hi, lo) => {
    const offset = entryOffset(hi, lo);
    if (hi & compressedFlag || offset % clusterSize === 0 || !readsZero(view, at, extendedL2)) return false;
    view.setUint32(at, 0);
    view.setUint32(at + 4, extendedL2 ? 0 : 1);
    note(
      `repaired: an entry that reads as zeroes led to ${offset}, not the start of a cluster; it has no place now`,
    );
    return true;
  });
  if (changed > 0) await file.flush();
  return changed;
}

async function editL2Tables(
  file: BlockNode,
  { header, counts, l2Tables }: Survey,
  tables: Counts,
  signal: AbortSignal | undefined,
  edit: Edit,
): Promise<number> {
  const { clusterSize, extendedL2 } = header;
  let changed = 0;
  await readPieces(file, tables.offsets(clusterSize), clusterSize, signal, (piece) => {
    const cluster = piece.offset / clusterSize;
    // What only one L1 entry takes for a table is not written to.
    if (piece.zero || piece.error !== undefined || counts.get(cluster) !== l2Tables.get(cluster)) return;
    const there = Math.min(clusterSize, file.size - piece.offset);
    return editEntries(file, piece, there, extendedL2 ? 16 : 8, edit, (count) => {
      changed += count;
    });
  });
  return changed;
}

async function editL1Table(
  file: BlockNode,
  { header, counts }: Survey,
  signal: AbortSignal | undefined,
  edit: Edit,
): Promise<number> {
  const { l1TableOffset, l1Size, clusterSize } = header;
  const length = Math.min(l1Size * 8, Math.max(0, file.size - l1TableOffset));
  for (let at = 0; at < length; at += clusterSize)
    if (counts.get((l1TableOffset + at) / clusterSize) !== 1) return 0;
  if (length === 0) return 0;
  let changed = 0;
  await readRange(file, l1TableOffset, length, signal, (piece) => {
    if (piece.zero || piece.error !== undefined) return;
    return editEntries(file, piece, piece.bytes.length, 8, edit, (count) => {
      changed += count;
    });
  });
  return changed;
}

function editEntries(
  file: BlockNode,
  { offset, bytes }: Chunk,
  length: number,
  step: number,
  edit: Edit,
  done: (count: number) => void,
): Promise<void> | undefined {
  const view = viewOf(bytes);
  let from = -1;
  let to = 0;
  let count = 0;
  for (let at = 0; at + step <= length; at += step) {
    const hi = view.getUint32(at);
    const lo = view.getUint32(at + 4);
    if ((hi === 0 && lo === 0) || !edit(view, at, hi, lo)) continue;
    if (from < 0) from = at;
    to = at + step;
    count++;
  }
  if (from < 0) return undefined;
  done(count);
  return writeSectors(file, offset, bytes.subarray(0, length), from, to);
}
