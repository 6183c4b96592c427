import type { BlockNode } from '@blockyard/core';
import { parseClusterBits, parseHeader, type Qcow2Header } from './header.ts';

/** The header of the image in `file`, with its extensions and names. Opens nothing that it names. */
export async function readHeader(file: BlockNode): Promise<Qcow2Header> {
  const start = new Uint8Array(Math.min(file.size, 512));
  if (start.length > 0) await file.read(0, start);
  const { clusterBits } = parseClusterBits(start, file);
  const head = new Uint8Array(Math.min(file.size, 2 ** clusterBits));
  await file.read(0, head);
  return parseHeader(head, file);
}
