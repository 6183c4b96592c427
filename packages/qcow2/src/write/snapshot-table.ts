import { alignUp, type BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { badOption, tooLarge } from '../failure.ts';
import {
  fixedBytes,
  lengthOfEntries,
  mostNameBytes,
  mostSnapshots,
  type Snapshot,
  type SnapshotEntry,
} from '../snapshots.ts';
import { maxTableBytes } from '../tables.ts';

const extraBytes = 24;
const utf8 = new TextEncoder();

/** Bytes of the extra data that tell the size of the disk; older writers left them out. */
const toldDiskSize = 16;

/** Whether the entry itself says how large the disk was: else it had, and has, the size that the disk has now. */
export const tellsDiskSize = ({ bytes }: SnapshotEntry): boolean =>
  viewOf(bytes).getUint32(36) >= toldDiskSize;

/** "Snapshots": an entry with all that QEMU writes in the extra data. */
export function encodeSnapshot(snapshot: Snapshot): Uint8Array {
  const id = utf8.encode(snapshot.id);
  const name = utf8.encode(snapshot.name);
  const bytes = new Uint8Array(fixedBytes + extraBytes + id.length + name.length);
  const view = viewOf(bytes);
  view.setBigUint64(0, BigInt(snapshot.l1TableOffset));
  view.setUint32(8, snapshot.l1Size);
  view.setUint16(12, id.length);
  view.setUint16(14, name.length);
  view.setUint32(16, snapshot.dateSec);
  view.setUint32(20, snapshot.dateNsec);
  view.setBigUint64(24, BigInt(snapshot.vmClockNsec));
  // A size that 32 bits cannot hold is told by the extra data alone.
  view.setUint32(32, snapshot.vmStateSize < 2 ** 32 ? snapshot.vmStateSize : 0);
  view.setUint32(36, extraBytes);
  view.setBigUint64(40, BigInt(snapshot.vmStateSize));
  view.setBigUint64(48, BigInt(snapshot.diskSize));
  view.setBigUint64(56, BigInt(snapshot.icount ?? -1));
  bytes.set(id, fixedBytes + extraBytes);
  bytes.set(name, fixedBytes + extraBytes + id.length);
  return bytes;
}

/** The table of these entries. @throws BlockError EFBIG for more than any program reads */
export function encodeTable(entries: readonly Uint8Array[], file: BlockNode): Uint8Array {
  const length = lengthOfEntries(entries);
  if (entries.length > mostSnapshots || length > maxTableBytes.snapshots) {
    throw tooLarge(
      file,
      `it would have ${entries.length} snapshots in a table of ${length} bytes; the most is ${mostSnapshots} in ${maxTableBytes.snapshots}; delete some`,
    );
  }
  const table = new Uint8Array(length);
  let at = 0;
  for (const bytes of entries) {
    table.set(bytes, at);
    at += alignUp(bytes.length, 8);
  }
  return table;
}

/** One more than the largest id that is a number, as QEMU counts. */
export function nextId(snapshots: readonly Snapshot[]): string {
  let largest = 0;
  for (const { id } of snapshots) {
    const number = /^\d{1,15}/.exec(id);
    if (number) largest = Math.max(largest, Number(number[0]));
  }
  return String(largest + 1);
}

/** @throws BlockError ERR_INVALID_OPTION for a name that other programs could not read back. */
export function checkName(name: string, file: BlockNode): void {
  const { length } = utf8.encode(name);
  if (length > mostNameBytes)
    throw badOption(file, `the name of the snapshot has ${length} bytes; the most is ${mostNameBytes}`);
  if (name.includes('\0')) throw badOption(file, 'the name of the snapshot has a zero byte');
}
