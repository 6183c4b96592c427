import type { BlockNode, Extent, MaybePromise } from '@blockyard/core';

/** Walks a node's extents in rising order. Also counts the questions asked. */
export class ExtentCursor {
  readonly node: BlockNode;
  readonly #signal: AbortSignal | undefined;
  #extent: Extent | undefined;
  asked = 0;

  constructor(node: BlockNode, signal: AbortSignal | undefined) {
    this.node = node;
    this.#signal = signal;
  }

  /** What is at `offset`, up to where that changes or `end`. The extent begins at `offset`. */
  at(offset: number, end: number): MaybePromise<Extent> {
    this.#signal?.throwIfAborted();
    const known = this.#extent;
    if (known && known.offset <= offset && offset < known.offset + known.length)
      return cut(known, offset, end);
    const extent = this.#ask(offset, end);
    return extent instanceof Promise ? extent.then((found) => this.#keep(found)) : this.#keep(extent);
  }

  #keep(extent: Extent): Extent {
    this.#extent = extent;
    return extent;
  }

  #ask(offset: number, end: number): MaybePromise<Extent> {
    this.asked++;
    const extent = this.node.blockStatus(offset, end - offset, { signal: this.#signal });
    return extent instanceof Promise ? extent.then((found) => this.#below(found)) : this.#below(extent);
  }

  /** Clusters that were allocated ahead and never written are holes in the file, and only the file knows. */
  #below(extent: Extent): MaybePromise<Extent> {
    const { hostNode, hostOffset, length } = extent;
    if (extent.zero || !hostNode || hostOffset === undefined || hostNode === this.node) return extent;
    // What lies past the end of the file is for the read to judge: a missing cluster must not pass as zeroes.
    if (!hostNode.supports.blockStatus || hostOffset + length > hostNode.size) return extent;
    this.asked++;
    const below = hostNode.blockStatus(hostOffset, length, { signal: this.#signal });
    const merge = (found: Extent): Extent => ({ ...extent, length: found.length, zero: found.zero });
    return below instanceof Promise ? below.then(merge) : merge(below);
  }
}

function cut(extent: Extent, offset: number, end: number): Extent {
  const skip = offset - extent.offset;
  const length = Math.min(extent.length - skip, end - offset);
  const { hostOffset } = extent;
  return {
    ...extent,
    offset,
    length,
    ...(hostOffset === undefined ? {} : { hostOffset: hostOffset + skip }),
  };
}
