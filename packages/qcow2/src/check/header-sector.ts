import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';

const sectorBytes = 512;

/** Changes fields of the header with one write of the sector that they all lie in, durable before and after. */
export async function changeHeader(file: BlockNode, change: (view: DataView) => void): Promise<void> {
  await file.flush();
  const sector = new Uint8Array(Math.min(sectorBytes, file.size));
  await file.read(0, sector);
  change(viewOf(sector));
  await file.write(0, sector);
  await file.flush();
}
