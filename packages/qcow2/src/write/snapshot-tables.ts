import { alignUp } from '@blockyard/core';
import { invalid, notPossible } from '../failure.ts';
import type { Image } from '../image.ts';
import { L1Table } from '../l1.ts';
import type { Snapshot } from '../snapshots.ts';
import { checkTable, checkTables, maxTableBytes, readTable } from '../tables.ts';
import type { SnapshotEntry } from './snapshot-table.ts';
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
  const what = `the L1 table of snapshot ${snapshot.id}`;
  const table = { what, offset: snapshot.l1TableOffset, length: snapshot.l1Size * 8 };
  if (table.length === 0) return new L1Table(new Uint8Array(0));
  checkTable(file, header.clusterSize, table, maxTableBytes.l1);
  const end = table.offset + table.length;
  const other = checkTables(header, file).find(
    (one) => table.offset < one.offset + one.length && one.offset < end,
  );
  if (other)
    throw invalid(file, `${what} at ${table.offset} overlaps ${other.what} at ${other.offset}`, table.offset);
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
  const length = entries.reduce((sum, { bytes }) => sum + alignUp(bytes.length, 8), 0);
  if (length > 0) await counts.change('the snapshot table', image.header.snapshotsOffset, length, -1);
}
