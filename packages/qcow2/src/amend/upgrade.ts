import type { BlockNode } from '@blockyard/core';
import { knownHeaderBytes, type Qcow2Header } from '../header.ts';
import { lengthOfEntries, readEntries } from '../snapshots.ts';
import { writeHeader } from '../write/header-writer.ts';
import { encodeSnapshot, encodeTable, tellsDiskSize } from '../write/snapshot-table.ts';
import { rebuildCounts } from './rebuild-counts.ts';

/** Version 3. Snapshots that do not say how large the disk was have to say it there. */
export async function upgrade(file: BlockNode, header: Qcow2Header): Promise<Qcow2Header> {
  if (header.version === 3) return header;
  const next: Qcow2Header = { ...header, version: 3, headerLength: knownHeaderBytes };
  const entries = await readEntries(header, file);
  if (entries.every(tellsDiskSize)) {
    await writeHeader(file, next);
    return next;
  }
  const bytes = entries.map((entry) => (tellsDiskSize(entry) ? entry.bytes : encodeSnapshot(entry.snapshot)));
  const table = encodeTable(bytes, file);
  const { clusterSize, snapshotsOffset } = header;
  const clusters = Math.ceil(table.length / clusterSize);
  const oldBytes = lengthOfEntries(entries.map((entry) => entry.bytes));
  const gone = Array.from(
    { length: Math.ceil(oldBytes / clusterSize) },
    (_, i) => snapshotsOffset / clusterSize + i,
  );
  const done = await rebuildCounts(file, header, {
    refcountBits: header.refcountBits,
    runs: [{ clusters, count: 1 }],
    fill: async (offset) => await file.write(offset, table),
    gone,
    change: (offset) => ({ version: 3, headerLength: knownHeaderBytes, snapshotsOffset: offset }),
  });
  return done.header;
}
