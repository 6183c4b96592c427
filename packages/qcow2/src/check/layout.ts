import type { BlockNode } from '@blockyard/core';
import { invalid } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { maxTableBytes } from '../tables.ts';

/**
 * What a header must say for the image to be checked at all. That a table lies past the end of the file is a finding,
 * not an error.
 * @throws BlockError ERR_INVALID_IMAGE
 */
export function checkLayout(header: Qcow2Header, file: BlockNode): void {
  const { clusterSize, size } = header;
  const place = (what: string, offset: number, bytes: number, most: number, field: number) => {
    if (offset % clusterSize !== 0)
      throw invalid(file, `${what} at ${offset} does not start at a cluster of ${clusterSize} bytes`, field);
    if (bytes > most) throw invalid(file, `${what} has ${bytes} bytes; the most is ${most}`, field);
  };
  const tableBytes = header.refcountTableClusters * clusterSize;
  if (tableBytes === 0) throw invalid(file, 'it has no refcount table', 56);
  place('the refcount table', header.refcountTableOffset, tableBytes, maxTableBytes.refcount, 48);
  place('the L1 table', header.l1TableOffset, header.l1Size * 8, maxTableBytes.l1, 40);
  place('the snapshot table', header.snapshotsOffset, header.snapshotCount * 40, maxTableBytes.snapshots, 64);
  const covered = (clusterSize / (header.extendedL2 ? 16 : 8)) * clusterSize;
  const needed = Math.ceil(size / covered);
  if (header.l1Size < needed)
    throw invalid(
      file,
      `the L1 table has ${header.l1Size} entries, and a disk of ${size} bytes needs ${needed}`,
      36,
    );
}
