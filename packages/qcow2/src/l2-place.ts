import type { BlockNode } from '@blockyard/core';
import { corrupt, truncated } from './failure.ts';
import type { MetadataAreas } from './metadata-areas.ts';

/** An L2 table starts at a cluster. @throws BlockError ERR_CORRUPT */
export function checkL2Start(file: BlockNode, clusterSize: number, table: number, index: number): void {
  if (table % clusterSize === 0) return;
  const text = `the L2 table of L1 entry ${index} at ${table} does not start at a cluster`;
  throw corrupt(file, text, table);
}

/** ... it is in the file, one L1 entry's, and not over other metadata. @throws BlockError ERR_CORRUPT, ERR_IMAGE_TRUNCATED */
export function checkL2Place(
  file: BlockNode,
  clusterSize: number,
  areas: MetadataAreas,
  table: number,
  index: number,
): void {
  const what = `the L2 table of L1 entry ${index}`;
  if (table >= file.size) throw truncated(file, what, table, file.size);
  if (areas.isShared(table)) throw corrupt(file, `${what} at ${table} is another L1 entry's too`, table);
  const touched = areas.fixed(table, table + clusterSize);
  if (touched) throw corrupt(file, `${what} at ${table} overlaps ${touched}`, table);
}
