import {
  type BlockDriver,
  type BlockLimits,
  type MaybePromise,
  PassThroughNode,
  type PassThroughOptions,
  type ReadOptions,
  type RequestOptions,
  type WriteOptions,
  type ZeroOptions,
} from '@blockyard/core';
import { byteLength, fill, type IoData, slice } from '@blockyard/iov-utils';
import { ConformanceError } from '../expect.ts';
import { rangeFault, transferFault } from './legal.ts';

/** Says that it can take very little, and checks that it is given no more. */
class NarrowNode extends PassThroughNode {
  protected override _refreshLimits(limits: BlockLimits): void {
    const block = Math.max(4096, limits.requestAlignment);
    limits.requestAlignment = block;
    limits.maxTransfer = 4 * block;
    limits.maxIov = 3;
    limits.pwriteZeroesAlignment = 2 * block;
    limits.maxPwriteZeroes = 8 * block;
    limits.pdiscardAlignment = 2 * block;
    limits.maxPdiscard = 4 * block;
  }

  protected override async _read(offset: number, into: IoData, options: ReadOptions): Promise<void> {
    this.#check('read', transferFault(this, offset, into));
    const inside = this.#inside(offset, byteLength(into));
    await super._read(offset, slice(into, 0, inside), options);
    fill(into, 0, inside);
  }

  protected override _write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    this.#check('write', transferFault(this, offset, from));
    return super._write(offset, slice(from, 0, this.#inside(offset, byteLength(from))), options);
  }

  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    const { pwriteZeroesAlignment, maxPwriteZeroes } = this.limits;
    this.#check('writeZeroes', rangeFault(this, offset, length, pwriteZeroesAlignment, maxPwriteZeroes));
    return super._writeZeroes(offset, this.#inside(offset, length), options);
  }

  protected override _discard(offset: number, length: number, options: RequestOptions): MaybePromise<void> {
    this.#check(
      'discard',
      rangeFault(this, offset, length, this.limits.pdiscardAlignment, this.limits.maxPdiscard),
    );
    return super._discard(offset, this.#inside(offset, length), options);
  }

  /** The last block may end after the node: those bytes are not the file's. */
  #inside(offset: number, length: number): number {
    return Math.min(length, this.size - offset);
  }

  #check(op: string, fault: string | undefined): void {
    if (fault) throw new ConformanceError(`a ${op} reached a filter that cannot take it: ${fault}`);
  }
}

/** A filter of small limits: requests through it are padded, split and put together again. */
export function narrow(): BlockDriver<PassThroughOptions> {
  return {
    name: 'conformance-narrow',
    kind: 'filter',
    help: 'takes blocks of 4 KiB, at most four at once, and checks that it gets no more',
    options: { file: { type: 'node', required: true, help: 'the node below' } },
    open: async (options, context) =>
      new NarrowNode(await context.openChild('file', options.file), context, 'conformance-narrow'),
  };
}
