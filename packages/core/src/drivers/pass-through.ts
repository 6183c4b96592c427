import type { IoData } from '@blockyard/iov-utils';
import { BlockNode } from '../block-node.ts';
import type { BlockDriver, ChildOptions, OpenContext } from '../driver.ts';
import type { Extent } from '../extent.ts';
import type {
  MaybePromise,
  ReadOptions,
  RequestOptions,
  TruncateOptions,
  WriteOptions,
  ZeroOptions,
} from '../request/options.ts';

export interface PassThroughOptions {
  file: ChildOptions;
}

/**
 * Hands every request on as it came: the shape of a filter, to extend and to override one method of.
 */
export class PassThroughNode extends BlockNode {
  protected readonly file: BlockNode;

  constructor(file: BlockNode, context: OpenContext, name = 'pass-through') {
    super({ driver: { name, kind: 'filter' }, context, supports: file.supports, children: { file } });
    this.file = file;
  }

  get size(): number {
    return this.file.size;
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    return this.file.read(offset, into, options);
  }
  protected override _write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    return this.file.write(offset, from, options);
  }
  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    return this.file.writeZeroes(offset, length, options);
  }
  protected override _discard(offset: number, length: number, options: RequestOptions): MaybePromise<void> {
    return this.file.discard(offset, length, options);
  }
  protected override _flush(options: RequestOptions): MaybePromise<void> {
    return this.file.flush(options);
  }
  protected override _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): MaybePromise<Extent> {
    return this.file.blockStatus(offset, length, options);
  }
  protected override _truncate(size: number, options: TruncateOptions): Promise<void> {
    return this.file.truncate(size, options);
  }
  protected override _copyRange(
    source: BlockNode,
    sourceOffset: number,
    offset: number,
    length: number,
    options: RequestOptions,
  ): MaybePromise<number> {
    return this.file.copyRange((source as PassThroughNode).file, sourceOffset, offset, length, options);
  }
}

/** A filter that changes nothing: proof that a driver works below a filter. */
export function passThrough(): BlockDriver<PassThroughOptions> {
  return {
    name: 'pass-through',
    kind: 'filter',
    help: 'hands every request on as it came',
    options: { file: { type: 'node', required: true, help: 'the node below' } },
    open: async (options, context) =>
      new PassThroughNode(await context.openChild('file', options.file), context),
  };
}
