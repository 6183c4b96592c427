import { notPossible } from '../failure.ts';
import type { Image } from '../image.ts';
import { L1Table } from '../l1.ts';
import { lengthOfEntries, type Snapshot, type SnapshotEntry } from '../snapshots.ts';
import { checkSnapshotL1, checkTables, readTable } from '../tables.ts';
import type { Transition } from './transition.ts';

/** @throws BlockError ERR_NOT_SUPPORTED where a snapshot could not hold the disk. */
export function refuseExternalData({ header, file }: Image): void {
  if (header.externalData) {
    throw notPossible(
      file,
      'its data is in an external file, which is written in place: it can have no internal snapshots; use a backing file instead',
    );
  }
}

/** The L1 table of a snapshot, checked as the active one is. */
export async function readSnapshotL1({ header, file }: Image, snapshot: Snapshot): Promise<L1Table> {
  if (snapshot.l1Size === 0) return new L1Table(new Uint8Array(0));
  const table = checkSnapshotL1(header, file, snapshot, checkTables(header, file));
  return new L1Table(await readTable(file, table));
}

/** The active L1 table is another after the transition. */
export async function giveUpL1({ image, counts }: Transition): Promise<void> {
  const { l1TableOffset, l1Size } = image.header;
  if (l1Size > 0) await counts.change('the active L1 table', l1TableOffset, l1Size * 8, -1);
}

/** The snapshot table is another after the transition. */
export async function giveUpTable(
  { image, counts }: Transition,
  entries: readonly SnapshotEntry[],
): Promise<void> {
  const length = lengthOfEntries(entries.map(({ bytes }) => bytes));
  if (length > 0) await counts.change('the snapshot table', image.header.snapshotsOffset, length, -1);
}
