import type { BlockNode } from '@blockyard/core';
import { withoutFilters } from './chain.ts';

export const clusterSizeOf = (node: BlockNode): number | undefined =>
  withoutFilters(node).features.clusterSize;

/** Zeroes and data are told apart in units that the target can tell apart: parts of a cluster make it fill the rest. */
export function unitOf(target: BlockNode): number {
  const clusterSize = clusterSizeOf(target);
  return clusterSize === undefined ? 1 : target.limits.pwriteZeroesAlignment || clusterSize;
}
