import {
  type BlockDriver,
  type BlockLimits,
  BlockNode,
  type Extent,
  type IoData,
  type OpenContext,
  type OptionSpecs,
  type Supports,
} from '@blockyard/core';
import { byteLength, copyFrom, copyTo, fill } from '@blockyard/iov-utils';
import { stored } from './supports.ts';

/** What outlives a node. */
export interface Store {
  bytes: Uint8Array;
}

interface StoreOptions {
  store: Store;
}

/** A small and right driver, to be made wrong. Requests take a turn of the event loop, as real ones do. */
export class StoreNode extends BlockNode {
  readonly store: Store;
  readonly #block: number;

  constructor(options: StoreOptions, context: OpenContext, { supports = {}, block = 1 }: Flaws) {
    const all = { compress: false, copyRange: false, ...stored, ...supports } as Supports;
    super({ driver: { name: 'store', kind: 'protocol' }, context, supports: all });
    this.store = options.store;
    this.#block = block;
  }

  get size(): number {
    return this.store.bytes.length;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    await turn();
    // The last block may end after the disk.
    fill(into, 0);
    copyFrom(into, this.store.bytes.subarray(offset, offset + byteLength(into)));
  }
  protected override async _write(offset: number, from: IoData): Promise<void> {
    await turn();
    copyTo(from, this.store.bytes.subarray(offset, offset + byteLength(from)));
  }
  protected override async _writeZeroes(offset: number, length: number): Promise<void> {
    await turn();
    this.store.bytes.fill(0, offset, offset + length);
  }
  protected override _discard(offset: number, length: number): Promise<void> {
    return this._writeZeroes(offset, length);
  }
  protected override async _flush(): Promise<void> {
    await turn();
  }
  protected override async _truncate(size: number): Promise<void> {
    const bytes = new Uint8Array(size);
    bytes.set(this.store.bytes.subarray(0, size));
    this.store.bytes = bytes;
  }
  protected override async _blockStatus(offset: number, length: number): Promise<Extent> {
    const { bytes } = this.store;
    const zeroAt = (block: number) =>
      bytes.subarray(block * 512, (block + 1) * 512).every((byte) => byte === 0);
    const zero = zeroAt(Math.floor(offset / 512));
    let end = Math.floor(offset / 512) + 1;
    while (end * 512 < offset + length && zeroAt(end) === zero) end++;
    return {
      offset,
      length: Math.min(length, end * 512 - offset),
      data: !zero,
      zero,
      present: true,
      depth: 0,
      compressed: false,
    };
  }
  protected override _refreshLimits(limits: BlockLimits): void {
    limits.minMemAlignment = 1;
    limits.requestAlignment = this.#block;
  }
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Flaws {
  /** Bytes of its blocks (default 1). */
  block?: number;
  /** Changes methods of an open node. */
  node?(node: StoreNode): void;
  supports?: Partial<Supports>;
  options?: OptionSpecs;
}

export function storeDriver(flaws: Flaws = {}): BlockDriver<StoreOptions> {
  return {
    name: 'store',
    kind: 'protocol',
    help: 'for tests',
    options: { store: { type: 'any', required: true, help: 'where the bytes are' }, ...flaws.options },
    async open(options, context) {
      const node = new StoreNode(options, context, flaws);
      flaws.node?.(node);
      return node;
    },
  };
}
