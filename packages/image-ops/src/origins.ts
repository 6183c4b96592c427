import type { BlockNode, Extent } from '@blockyard/core';
import { chainOf, sameImage } from './chain.ts';

/** Tells of two disks where they must have the same bytes, because these come from one place. */
export class Origins {
  readonly #chains: readonly [readonly BlockNode[], readonly BlockNode[]];
  readonly #known = new Map<BlockNode, Map<BlockNode, boolean>>();

  constructor(a: BlockNode, b: BlockNode) {
    this.#chains = [chainOf(a), chainOf(b)];
  }

  /** Of extents that begin at the same offset, up to the end of the shorter. False: they may differ. */
  same(a: Extent, b: Extent): boolean {
    if (a.zero && b.zero) return true;
    if (!a.present || !b.present) return false;
    const [layerA, layerB] = [this.#chains[0][a.depth], this.#chains[1][b.depth]];
    if (layerA && layerB && this.#sameImage(layerA, layerB)) return true;
    if (!a.hostNode || !b.hostNode || a.hostOffset === undefined) return false;
    return a.hostOffset === b.hostOffset && this.#sameImage(a.hostNode, b.hostNode);
  }

  #sameImage(a: BlockNode, b: BlockNode): boolean {
    let known = this.#known.get(a);
    if (!known) this.#known.set(a, (known = new Map()));
    let same = known.get(b);
    if (same === undefined) known.set(b, (same = sameImage(a, b)));
    return same;
  }
}
