import type { BlockNode } from '@blockyard/core';

/** Filters hand on what is below, and count for nothing in an extent's depth. */
export function withoutFilters(node: BlockNode): BlockNode {
  let below = node;
  while (below.kind === 'filter' && below.children.file) below = below.children.file;
  return below;
}

/** The images behind one another, the node's own first: the layer at an extent's depth. */
export function chainOf(node: BlockNode): readonly BlockNode[] {
  const chain: BlockNode[] = [];
  for (let layer: BlockNode | undefined = node; layer; ) {
    const image: BlockNode = withoutFilters(layer);
    chain.push(image);
    layer = image.children.backing;
  }
  return chain;
}

/** Whether both nodes show the same image, though each was opened by itself. In doubt not. */
export function sameImage(a: BlockNode, b: BlockNode): boolean {
  if (a === b) return true;
  if (a.driver !== b.driver) return false;
  if (a.kind === 'protocol')
    return a.location.identity !== undefined && a.location.identity === b.location.identity;
  if (JSON.stringify(a.describeOptions()) !== JSON.stringify(b.describeOptions())) return false;
  const roles = (node: BlockNode) => Object.keys(node.children).filter((role) => role !== 'backing');
  const own = roles(a);
  if (own.length === 0 || own.length !== roles(b).length) return false;
  return own.every((role) => {
    const [one, other] = [a.children[role], b.children[role]];
    return one !== undefined && other !== undefined && sameImage(one, other);
  });
}
