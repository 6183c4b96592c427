import type { IoData } from '@blockyard/iov-utils';
import type { BlockNode } from './block-node.ts';
import { BlockError } from './errors.ts';
import type { Extent } from './extent.ts';
import type { BlockLimits } from './limits.ts';
import type {
  MaybePromise,
  ReadOptions,
  RequestOptions,
  TruncateOptions,
  WriteOptions,
  ZeroOptions,
} from './request/options.ts';

/** What a driver implements: see BlockNode for what it may rely on. Only `size` and `_read` have no default. */
export abstract class DriverHooks {
  /** Bytes. May change while the node is open. */
  abstract get size(): number;

  abstract readonly children: Readonly<Record<string, BlockNode>>;

  protected abstract _read(offset: number, into: IoData, options: ReadOptions): MaybePromise<void>;

  protected _write(_offset: number, _from: IoData, _options: WriteOptions): MaybePromise<void> {
    throw missing('write');
  }
  /** May fail with ERR_NOT_SUPPORTED for a range that only bytes can zero. */
  protected _writeZeroes(_offset: number, _length: number, _options: ZeroOptions): MaybePromise<void> {
    throw missing('writeZeroes');
  }
  protected _discard(_offset: number, _length: number, _options: RequestOptions): MaybePromise<void> {
    throw missing('discard');
  }
  protected _flush(options: RequestOptions): MaybePromise<void> {
    return this.children.file?.flush(options);
  }
  protected _blockStatus(_offset: number, _length: number, _options: RequestOptions): MaybePromise<Extent> {
    throw missing('blockStatus');
  }
  protected _truncate(_size: number, _options: TruncateOptions): Promise<void> {
    throw missing('truncate');
  }
  protected _copyRange(
    _source: BlockNode,
    _sourceOffset: number,
    _offset: number,
    _length: number,
    _options: RequestOptions,
  ): MaybePromise<number> {
    return 0;
  }
  /** Adjusts the limits merged from the children. */
  protected _refreshLimits(_limits: BlockLimits): MaybePromise<void> {}
  /** Gives back what the driver holds; the children are closed afterwards. */
  protected _close(): MaybePromise<void> {}
}

function missing(op: string): BlockError {
  return new BlockError('ERR_NOT_SUPPORTED', `${op}: the driver does not implement it`, { op });
}
