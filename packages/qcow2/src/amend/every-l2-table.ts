import type { BlockNode } from '@blockyard/core';
import { corrupt } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { L1Table } from '../l1.ts';
import { readSnapshots } from '../snapshots.ts';
import { checkTable, l1Table, maxTableBytes, readTable, type Table } from '../tables.ts';

/** The places of all L2 tables, each once, of the disk and of its snapshots; and those of the disk. */
export async function everyL2Table(
  file: BlockNode,
  header: Qcow2Header,
): Promise<{ all: Set<number>; active: Set<number> }> {
  const active = await usedBy(file, header, l1Table(header));
  const all = new Set(active);
  for (const { id, l1TableOffset, l1Size } of await readSnapshots(header, file)) {
    const table = { what: `the L1 table of snapshot ${id}`, offset: l1TableOffset, length: l1Size * 8 };
    for (const offset of await usedBy(file, header, table)) all.add(offset);
  }
  return { all, active };
}

async function usedBy(file: BlockNode, { clusterSize }: Qcow2Header, table: Table): Promise<Set<number>> {
  if (table.length === 0) return new Set();
  checkTable(file, clusterSize, table, maxTableBytes.l1);
  const used = new Set(new L1Table(await readTable(file, table)).used());
  for (const offset of used) {
    if (offset % clusterSize !== 0 || offset + clusterSize > file.size)
      throw corrupt(
        file,
        `${table.what} leads to an L2 table at ${offset}, which is not a cluster of the file`,
      );
  }
  return used;
}
