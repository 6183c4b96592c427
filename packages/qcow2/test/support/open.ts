import {
  type BlockDriver,
  type BlockNode,
  createRegistry,
  type Disk,
  type Extent,
  memory,
  nullDriver,
  passThrough,
} from '@blockyard/core';
import { type Qcow2Options, qcow2 } from '../../src/index.ts';

export const registry = createRegistry([
  memory(),
  nullDriver(),
  passThrough(),
  qcow2(),
] as unknown as BlockDriver[]);

export const inMemory = (data: Uint8Array) => ({ driver: 'memory', data });

type Options = Partial<Qcow2Options> & Record<string, unknown>;

/** An image in memory, opened for reading. */
export const openNode = (image: Uint8Array, options: Options = {}): Promise<BlockNode> =>
  registry.openNode({ driver: 'qcow2', readOnly: true, file: inMemory(image), ...options });

export const openDisk = (image: Uint8Array, options: Options = {}): Promise<Disk> =>
  registry.open({ driver: 'qcow2', readOnly: true, file: inMemory(image), ...options });

export async function readAll(image: Uint8Array, options: Options = {}): Promise<Uint8Array> {
  await using disk = await openDisk(image, options);
  return await disk.read(0, disk.size);
}

export async function extents(disk: Disk): Promise<Extent[]> {
  const found: Extent[] = [];
  for await (const extent of disk.extents()) found.push(extent);
  return found;
}
