import type { BlockNode } from '@blockyard/core';
import { badOption } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import { rebuildCounts } from './rebuild-counts.ts';

const widths = [1, 2, 4, 8, 16, 32, 64];

/** @throws BlockError ERR_INVALID_OPTION for a width that there is not */
export function checkWidth(file: BlockNode, refcountBits: number): void {
  if (!widths.includes(refcountBits))
    throw badOption(file, `refcountBits is ${refcountBits}; it can be 1, 2, 4, 8, 16, 32 or 64`);
}

/** @throws BlockError ERR_NOT_SUPPORTED where a count does not fit */
export async function changeWidth(
  file: BlockNode,
  header: Qcow2Header,
  refcountBits: number,
): Promise<Qcow2Header> {
  if (refcountBits === header.refcountBits) return header;
  return (await rebuildCounts(file, header, { refcountBits })).header;
}
