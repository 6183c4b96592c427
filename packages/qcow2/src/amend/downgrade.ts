import type { AmendOptions, BlockNode } from '@blockyard/core';
import { extensionType } from '../extensions.ts';
import { notPossible } from '../failure.ts';
import { headerBytes, type Qcow2Header } from '../header.ts';
import { readSnapshots } from '../snapshots.ts';
import { withFlags } from '../write/header-flags.ts';
import { writeHeader } from '../write/header-writer.ts';
import { replaceZeroClusters } from './zero-clusters.ts';

/** @throws BlockError ERR_NOT_SUPPORTED for what version 2 cannot hold; `refcountBits` is what it is to be by then */
export async function checkDowngrade(
  file: BlockNode,
  header: Qcow2Header,
  refcountBits: number,
): Promise<void> {
  const why = reason(header, refcountBits) ?? (await snapshotReason(file, header));
  if (why !== undefined) throw notPossible(file, `it cannot become version 2 (compat 0.10): ${why}`);
}

function reason(header: Qcow2Header, refcountBits: number): string | undefined {
  if (refcountBits !== 16)
    return `its refcounts have ${refcountBits} bits, and there they have 16; change refcountBits to 16 as well`;
  if (header.externalData) return 'its data is in an external file';
  if (header.extendedL2) return 'it has extended L2 entries';
  if (header.compressionType !== 'zlib')
    return `its compressed clusters are ${header.compressionType}, and there they are zlib`;
  if (header.extensions.some(({ type }) => type === extensionType.bitmaps))
    return 'it has bitmaps; remove them first';
  return undefined;
}

async function snapshotReason(file: BlockNode, header: Qcow2Header): Promise<string | undefined> {
  for (const { id, diskSize, vmStateSize } of await readSnapshots(header, file)) {
    if (diskSize !== header.size)
      return `snapshot ${id} is of a disk of ${diskSize} bytes, and the disk has ${header.size}; delete it first`;
    if (vmStateSize >= 2 ** 32)
      return `snapshot ${id} has a VM state of ${vmStateSize} bytes; delete it first`;
  }
  return undefined;
}

/** Version 2, after `checkDowngrade`: clusters that read as zeroes by their entry become others first. */
export async function downgrade(
  file: BlockNode,
  header: Qcow2Header,
  work: AmendOptions,
): Promise<Qcow2Header> {
  if (header.version === 2) return header;
  const current = await replaceZeroClusters(file, header, work);
  const next: Qcow2Header = {
    ...current,
    ...withFlags(current, { lazyRefcounts: false }),
    version: 2,
    headerLength: headerBytes.v2,
    unknownFields: new Uint8Array(0),
    compatibleFeatures: 0n,
    autoclearFeatures: 0n,
  };
  await writeHeader(file, next);
  return next;
}
