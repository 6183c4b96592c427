import type { BlockNode } from '@blockyard/core';
import { invalid, truncated } from './failure.ts';
import type { Qcow2Header } from './header.ts';

/** More than any image needs that other programs open: 2^22 L1 entries, 2^20 refcount blocks. */
export const maxTableBytes = {
  l1: 32 << 20,
  refcount: 8 << 20,
  snapshots: 64 << 20,
  bitmapDirectory: 64 << 20,
} as const;

/** A table that the header, or a snapshot, says where to find. */
export interface Table {
  what: string;
  offset: number;
  length: number;
}

/** A table starts at a cluster, leaves the header alone and lies within the file: it is checked before it is read. */
export function checkTable(file: BlockNode, clusterSize: number, table: Table, maxBytes: number): void {
  const { what, offset, length } = table;
  if (length > maxBytes) throw invalid(file, `${what} has ${length} bytes; the most is ${maxBytes}`, offset);
  if (offset % clusterSize !== 0)
    throw invalid(file, `${what} at ${offset} does not start at a cluster of ${clusterSize} bytes`, offset);
  if (offset === 0) throw invalid(file, `${what} is at offset 0, where the header is`, offset);
  if (offset >= file.size) throw truncated(file, what, offset, file.size);
  if (length > file.size - offset) throw truncated(file, `the end of ${what}`, offset + length, file.size);
}

export const l1Table = (header: Qcow2Header): Table => ({
  what: 'the L1 table',
  offset: header.l1TableOffset,
  length: header.l1Size * 8,
});

export const refcountTable = (header: Qcow2Header): Table => ({
  what: 'the refcount table',
  offset: header.refcountTableOffset,
  length: header.refcountTableClusters * header.clusterSize,
});

/** Of the snapshot table only the fixed part of every entry is known without reading it. */
export const snapshotTable = (header: Qcow2Header): Table => ({
  what: 'the snapshot table',
  offset: header.snapshotsOffset,
  length: header.snapshotCount * 40,
});

/** What of a snapshot says where its L1 table is. */
interface SnapshotL1 {
  id: string;
  l1TableOffset: number;
  l1Size: number;
}

export const snapshotL1Table = ({ id, l1TableOffset, l1Size }: SnapshotL1): Table => ({
  what: `the L1 table of snapshot ${id}`,
  offset: l1TableOffset,
  length: l1Size * 8,
});

/** The L1 table of a snapshot, which has one, checked by itself and against the header's tables. */
export function checkSnapshotL1(
  header: Qcow2Header,
  file: BlockNode,
  snapshot: SnapshotL1,
  others: readonly Table[],
): Table {
  const table = snapshotL1Table(snapshot);
  checkTable(file, header.clusterSize, table, maxTableBytes.l1);
  const end = table.offset + table.length;
  const other = others.find((one) => table.offset < one.offset + one.length && one.offset < end);
  if (!other) return table;
  const text = `${table.what} at ${table.offset} overlaps ${other.what} at ${other.offset}`;
  throw invalid(file, text, table.offset);
}

/** Checks the tables that the header names, one by one and against each other. */
export function checkTables(header: Qcow2Header, file: BlockNode): Table[] {
  const { clusterSize } = header;
  const tables = [refcountTable(header)];
  if (header.refcountTableClusters === 0) throw invalid(file, 'it has no refcount table', 56);
  checkTable(file, clusterSize, refcountTable(header), maxTableBytes.refcount);
  if (header.l1Size > 0) {
    checkTable(file, clusterSize, l1Table(header), maxTableBytes.l1);
    tables.push(l1Table(header));
  }
  if (header.snapshotCount > 0) {
    checkTable(file, clusterSize, snapshotTable(header), maxTableBytes.snapshots);
    tables.push(snapshotTable(header));
  }
  tables.sort((a, b) => a.offset - b.offset);
  tables.forEach((table, i) => {
    const next = tables[i + 1];
    if (next && table.offset + table.length > next.offset) {
      throw invalid(
        file,
        `${table.what} (${table.length} bytes at ${table.offset}) overlaps ${next.what} at ${next.offset}`,
        next.offset,
      );
    }
  });
  return tables;
}

/** Reads a table that was checked. */
export async function readTable(file: BlockNode, table: Table): Promise<Uint8Array> {
  const bytes = new Uint8Array(table.length);
  const step = 1 << 20;
  for (let at = 0; at < bytes.length; at += step) {
    await file.read(table.offset + at, bytes.subarray(at, Math.min(at + step, bytes.length)));
  }
  return bytes;
}
