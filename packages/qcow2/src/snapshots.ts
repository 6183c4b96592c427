import { alignUp, type BlockNode, type SnapshotInformation } from '@blockyard/core';
import { safe64, textOf, viewOf } from './bytes.ts';
import { badOption, invalid, truncated } from './failure.ts';
import type { Qcow2Header } from './header.ts';
import { checkTable, maxTableBytes, snapshotTable } from './tables.ts';

/** An internal snapshot, as the image records it. */
export interface Snapshot extends SnapshotInformation {
  l1TableOffset: number;
  l1Size: number;
}

/** A snapshot, and its entry in the table as it is stored, with what is not known of it. */
export interface SnapshotEntry {
  snapshot: Snapshot;
  bytes: Uint8Array;
}

/** Of an entry, before the extra data, the id and the name. */
export const fixedBytes = 40;
export const mostSnapshots = 65536;
export const mostExtraBytes = 1024;
/** Of an id and of a name; other programs make none longer than 255. */
export const mostNameBytes = 1023;

/** "Snapshots": what the table of them says. @throws BlockError when an entry cannot be read */
export async function readSnapshots(header: Qcow2Header, file: BlockNode): Promise<Snapshot[]> {
  return (await readEntries(header, file)).map(({ snapshot }) => snapshot);
}

/** Bytes of a table of these entries. */
export const lengthOfEntries = (entries: readonly Uint8Array[]): number =>
  entries.reduce((sum, bytes) => sum + alignUp(bytes.length, 8), 0);

/** "Snapshots": the entries of the table. @throws BlockError when one cannot be read */
export async function readEntries(header: Qcow2Header, file: BlockNode): Promise<SnapshotEntry[]> {
  if (header.snapshotCount === 0) return [];
  if (header.snapshotCount > mostSnapshots) {
    throw invalid(file, `it has ${header.snapshotCount} snapshots; the most is ${mostSnapshots}`, 60);
  }
  checkTable(file, header.clusterSize, snapshotTable(header), maxTableBytes.snapshots);
  const found: SnapshotEntry[] = [];
  let at = header.snapshotsOffset;
  for (let i = 0; i < header.snapshotCount; i++) {
    const head = await part(file, at, fixedBytes);
    const fixed = viewOf(head);
    const extraBytes = fixed.getUint32(36);
    const idBytes = fixed.getUint16(12);
    const nameBytes = fixed.getUint16(14);
    if (extraBytes > mostExtraBytes) {
      throw invalid(
        file,
        `snapshot ${i} has ${extraBytes} bytes of extra data; the most is ${mostExtraBytes}`,
        at,
      );
    }
    const rest = await part(file, at + fixedBytes, extraBytes + idBytes + nameBytes);
    if (Math.max(idBytes, nameBytes) > mostNameBytes) {
      const text = `snapshot ${i} has an id of ${idBytes} bytes and a name of ${nameBytes}; the most is ${mostNameBytes}`;
      throw invalid(file, text, at);
    }
    const bytes = new Uint8Array(fixedBytes + rest.length);
    bytes.set(head);
    bytes.set(rest, fixedBytes);
    found.push({ snapshot: parseSnapshot(fixed, rest, extraBytes, idBytes, header, file), bytes });
    at += alignUp(bytes.length, 8);
    if (at - header.snapshotsOffset > maxTableBytes.snapshots) {
      throw invalid(
        file,
        `the snapshot table has more than ${maxTableBytes.snapshots} bytes`,
        header.snapshotsOffset,
      );
    }
  }
  return found;
}

async function part(file: BlockNode, offset: number, length: number): Promise<Uint8Array> {
  if (offset + length > file.size)
    throw truncated(file, 'the end of the snapshot table', offset + length, file.size);
  const bytes = new Uint8Array(length);
  await file.read(offset, bytes);
  return bytes;
}

function parseSnapshot(
  fixed: DataView,
  rest: Uint8Array,
  extraBytes: number,
  idBytes: number,
  header: Qcow2Header,
  file: BlockNode,
): Snapshot {
  const extra = viewOf(rest);
  const wide = (view: DataView, at: number, what: string) => safe64(view, at, `${what} of a snapshot`, file);
  // Fields of the extra data that an older writer left out have a value of old.
  const icount = extraBytes >= 24 ? extra.getBigUint64(16) : undefined;
  return {
    id: textOf(rest.subarray(extraBytes, extraBytes + idBytes)),
    name: textOf(rest.subarray(extraBytes + idBytes)),
    l1TableOffset: wide(fixed, 0, 'l1_table_offset'),
    l1Size: fixed.getUint32(8),
    dateSec: fixed.getUint32(16),
    dateNsec: fixed.getUint32(20),
    vmClockNsec: Number(fixed.getBigUint64(24)),
    vmStateSize: extraBytes >= 8 ? wide(extra, 0, 'the VM state size') : fixed.getUint32(32),
    diskSize: extraBytes >= 16 ? wide(extra, 8, 'the disk size') : header.size,
    icount: icount === undefined || icount === 2n ** 64n - 1n ? undefined : Number(icount),
  };
}

/**
 * The snapshot that the user means: one whose id is `wanted`, else the first of that name. An id goes first, since
 * ids are unique and names need not be.
 */
export function findSnapshot(snapshots: readonly Snapshot[], wanted: string, file: BlockNode): Snapshot {
  const found = snapshots.find((one) => one.id === wanted) ?? snapshots.find((one) => one.name === wanted);
  if (found) return found;
  const known = snapshots.slice(0, 20).map((one) => `${one.id} '${one.name}'`);
  if (snapshots.length > known.length) known.push(`and ${snapshots.length - known.length} more`);
  throw badOption(
    file,
    `no snapshot has the id or the name '${wanted}'; ${known.length ? `there are ${known.join(', ')}` : 'there are none'}`,
  );
}

/** The entry of that snapshot. */
export function findEntry(entries: readonly SnapshotEntry[], wanted: string, file: BlockNode): SnapshotEntry {
  const snapshot = findSnapshot(
    entries.map((entry) => entry.snapshot),
    wanted,
    file,
  );
  return entries.find((entry) => entry.snapshot === snapshot) as SnapshotEntry;
}
