import { alignUp, type BlockNode } from '@blockyard/core';
import { textOf, viewOf } from '../bytes.ts';
import { invalid } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { fixedBytes, mostExtraBytes, mostSnapshots } from '../snapshots.ts';
import { maxTableBytes } from '../tables.ts';

/** What a check needs of an entry of the snapshot table. */
export interface SnapshotEntry {
  name: string;
  l1Offset: number;
  l1Size: number;
  extraBytes: number;
}

/**
 * The entries and the length of the snapshot table, which may be damaged.
 * @throws BlockError for a table of which it cannot be told where its entries are
 */
export async function readSnapshotEntries(
  header: Qcow2Header,
  file: BlockNode,
): Promise<{ entries: SnapshotEntry[]; length: number }> {
  const { snapshotCount, snapshotsOffset } = header;
  if (snapshotCount > mostSnapshots)
    throw invalid(file, `it has ${snapshotCount} snapshots; the most is ${mostSnapshots}`, 60);
  const entries: SnapshotEntry[] = [];
  let at = 0;
  // Without what fills up the last entry: it need not be in the file.
  let end = 0;
  for (let i = 0; i < snapshotCount; i++) {
    const fixed = viewOf(await part(file, snapshotsOffset + at, fixedBytes));
    const extraBytes = fixed.getUint32(36);
    const nameBytes = fixed.getUint16(12) + fixed.getUint16(14);
    if (extraBytes > mostExtraBytes)
      throw invalid(
        file,
        `snapshot ${i} has ${extraBytes} bytes of extra data; the most is ${mostExtraBytes}`,
        at,
      );
    const names = await part(file, snapshotsOffset + at + fixedBytes + extraBytes, nameBytes);
    entries.push({
      name: `${textOf(names.subarray(0, fixed.getUint16(12)))} '${textOf(names.subarray(fixed.getUint16(12)))}'`,
      // May lose digits above 2^53, where no file reaches.
      l1Offset: fixed.getUint32(0) * 2 ** 32 + fixed.getUint32(4),
      l1Size: fixed.getUint32(8),
      extraBytes,
    });
    const length = fixedBytes + extraBytes + nameBytes;
    end = at + length;
    at = alignUp(end, 8);
    if (at > maxTableBytes.snapshots)
      throw invalid(
        file,
        `the snapshot table has more than ${maxTableBytes.snapshots} bytes`,
        snapshotsOffset,
      );
  }
  return { entries, length: end };
}

/** Bytes of the file, zeroes where it has ended. */
async function part(file: BlockNode, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  const there = Math.min(length, Math.max(0, file.size - offset));
  if (there > 0) await file.read(offset, bytes.subarray(0, there));
  return bytes;
}
