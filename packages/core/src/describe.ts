import type { BlockNode } from './block-node.ts';
import type { BlockLimits } from './limits.ts';
import type { Supports } from './supports.ts';

/** A node and what is below it, as plain JSON. */
export interface NodeDescription {
  driver: string;
  kind: string;
  name: string;
  path?: string;
  size: number;
  readOnly: boolean;
  options: Record<string, unknown>;
  supports: Supports;
  limits: BlockLimits;
  stats: Record<string, number>;
  children: Record<string, NodeDescription>;
}

export function describeNode(node: BlockNode): NodeDescription {
  const { discard, detectZeroes, cache } = node.common;
  return {
    driver: node.driver,
    kind: node.kind,
    name: node.name,
    ...(node.path ? { path: node.path } : {}),
    size: node.size,
    readOnly: node.readOnly,
    options: { discard, detectZeroes, cache: { ...cache }, ...node.describeOptions() },
    supports: { ...node.supports },
    limits: { ...node.limits },
    stats: { ...node.stats },
    children: Object.fromEntries(
      Object.entries(node.children).map(([role, child]) => [role, describeNode(child)]),
    ),
  };
}
