import type { Image } from '../image.ts';
import { L1Table } from '../l1.ts';
import { lengthOfEntries, readEntries } from '../snapshots.ts';
import {
  checkTable,
  maxTableBytes,
  readTable,
  snapshotL1Table,
  snapshotTable,
  type Table,
} from '../tables.ts';

/**
 * Where the tables of the snapshots are, so that nothing is written over them. L2 tables that only snapshots have are
 * found by reading, which is done only when `inactive` asks for it.
 */
export async function learnAreas(image: Image, inactive: boolean): Promise<void> {
  const { areas, file, header } = image;
  const entries = await readEntries(header, file);
  const tables: Table[] = [];
  const length = lengthOfEntries(entries.map(({ bytes }) => bytes));
  const { what, offset: at } = snapshotTable(header);
  areas.setTable(what, length > 0 ? { offset: at, length } : undefined);
  const l2 = new Set<number>();
  for (const { snapshot } of entries) {
    const table = snapshotL1Table(snapshot);
    if (table.length === 0) continue;
    tables.push(table);
    if (!inactive) continue;
    checkTable(file, header.clusterSize, table, maxTableBytes.l1);
    for (const found of new L1Table(await readTable(file, table)).used()) l2.add(found);
  }
  areas.setSnapshots(tables, l2);
}
