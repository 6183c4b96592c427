import { alignDown, type BlockNode, type Extent, type MaybePromise } from '@blockyard/core';

/** What cannot be told is taken for data in steps of this. */
const untoldBytes = 64 << 10;

export interface CursorRules {
  /** Where the status cannot be told there is data: reading it will show. */
  lenient?: boolean | undefined;
  /** Take the node's word: assigned clusters are data, even where the file has a hole. */
  shallow?: boolean | undefined;
}

/** Walks a node's extents in rising order. Also counts the questions asked. */
export class ExtentCursor {
  readonly node: BlockNode;
  readonly #signal: AbortSignal | undefined;
  readonly #rules: CursorRules;
  #extent: Extent | undefined;
  asked = 0;

  constructor(node: BlockNode, signal: AbortSignal | undefined, rules: CursorRules = {}) {
    this.node = node;
    this.#signal = signal;
    this.#rules = rules;
  }

  /** What is at `offset`, up to where that changes or `end`. The extent begins at `offset`. */
  at(offset: number, end: number): MaybePromise<Extent> {
    this.#signal?.throwIfAborted();
    const known = this.#extent;
    if (known && known.offset <= offset && offset < known.offset + known.length)
      return cut(known, offset, end);
    const extent = this.#rules.lenient ? this.#tryAsk(offset, end) : this.#ask(offset, end);
    return extent instanceof Promise ? extent.then((found) => this.#keep(found)) : this.#keep(extent);
  }

  #keep(extent: Extent): Extent {
    this.#extent = extent;
    return extent;
  }

  async #tryAsk(offset: number, end: number): Promise<Extent> {
    try {
      return await this.#ask(offset, end);
    } catch {
      this.#signal?.throwIfAborted();
      const length = Math.min(end, alignDown(offset + untoldBytes, untoldBytes)) - offset;
      return { offset, length, data: true, zero: false, present: true, depth: 0, compressed: false };
    }
  }

  #ask(offset: number, end: number): MaybePromise<Extent> {
    this.asked++;
    const extent = this.node.blockStatus(offset, end - offset, { signal: this.#signal });
    return extent instanceof Promise ? extent.then((found) => this.#below(found)) : this.#below(extent);
  }

  /** Clusters that were allocated ahead and never written are holes in the file, and only the file knows. */
  #below(extent: Extent): MaybePromise<Extent> {
    const { hostNode, hostOffset, length } = extent;
    if (this.#rules.shallow || extent.zero || !hostNode || hostOffset === undefined || hostNode === this.node)
      return extent;
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
