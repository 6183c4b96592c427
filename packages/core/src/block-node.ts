import { byteLength, type IoData } from '@blockyard/iov-utils';
import { isZero } from '@blockyard/zero-detect';
import { requestChannel } from '#platform';
import type { BlockDriver, Location, OpenContext } from './driver.ts';
import { DriverHooks } from './driver-hooks.ts';
import { BlockError } from './errors.ts';
import type { Extent } from './extent.ts';
import type { ImageFeatures } from './image-features.ts';
import { type BlockLimits, checkLimits, defaultLimits, mergeLimits, minNonZero } from './limits.ts';
import { type Memory, portableMemory } from './memory.ts';
import type { NodeInit, Operation, RequestEvent } from './node-init.ts';
import { alignDown, alignUp } from './request/align.ts';
import { checkByteCount, requestData } from './request/arguments.ts';
import { RequestFlow } from './request/flow.ts';
import {
  type MaybePromise,
  noOptions,
  type ReadOptions,
  type RequestOptions,
  type TruncateOptions,
  type WriteOptions,
  type ZeroOptions,
} from './request/options.ts';
import { isLegal } from './request/pieces.ts';
import type { Target } from './request/target.ts';
import { readPieces, writePieces } from './request/transfer.ts';
import { zeroPieces } from './request/zeroes.ts';
import { NodeStats } from './stats.ts';
import type { Supports } from './supports.ts';

let unnamed = 0;
const noFeatures: ImageFeatures = Object.freeze({});

/**
 * A driver's open instance in the graph. The public methods check arguments, state and permission and make every
 * request legal for the driver (see docs/architecture.md, "Limits"); drivers implement the same names with an
 * underscore and are called only with requests that their limits allow:
 *
 * - ranges lie within the node, but that the last block may end after `size` when `size` is not a multiple of
 *   `requestAlignment`: a read fills it with zeroes, a write must leave `size` as it is;
 * - length is never 0; a vector has at least two elements and at most `maxIov`;
 * - `discard` and `mayUnmap` come only when the node was opened with `discard: 'unmap'`, `fua` only if supported.
 *
 * Errors: BlockError; RangeError or TypeError for arguments that no node could take.
 */
export abstract class BlockNode extends DriverHooks {
  readonly driver: string;
  readonly kind: BlockDriver['kind'];
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
  readonly supports: Readonly<Supports>;
  readonly children: Readonly<Record<string, BlockNode>>;
  readonly memory: Memory;
  readonly stats: NodeStats = new NodeStats();
  /** The common options in force. */
  readonly common: OpenContext['common'];
  /** Where the bytes of a protocol node are. */
  readonly location: Location;

  #limits: BlockLimits = defaultLimits();
  readonly #flow: RequestFlow;
  readonly #target: Target;
  readonly #memoryMatters: boolean;
  #owners = 1;
  #closing: Promise<void> | undefined;
  /** Something was asked of the driver that a flush may have to make durable. */
  #changed = false;

  protected constructor(init: NodeInit) {
    super();
    const { driver, context, children = {} } = init;
    this.driver = driver.name;
    this.kind = driver.kind;
    this.common = context.common;
    this.name = context.common.nodeName ?? `#${driver.name}${++unnamed}`;
    this.readOnly = context.common.readOnly;
    this.supports = init.supports;
    this.children = children;
    const below = children.file ?? Object.values(children)[0];
    this.path = init.path ?? below?.path ?? '';
    this.location = init.location ?? {};
    this.memory = init.memory ?? below?.memory ?? portableMemory;
    this.#memoryMatters = init.memory !== undefined && driver.kind === 'protocol';
    this.#flow = new RequestFlow(this, (options) => this._flush(options));
    const node = this;
    this.#target = {
      memory: this.memory,
      memoryMatters: this.#memoryMatters,
      stats: this.stats,
      get limits() {
        return node.#limits;
      },
      get size() {
        return node.size;
      },
      readDriver: (offset, into, options) => this._read(offset, into, options),
      writeDriver: (offset, from, options) => this._write(offset, from, options),
      writeZeroesDriver: (offset, length, options) => this._writeZeroes(offset, length, options),
    };
  }

  get limits(): Readonly<BlockLimits> {
    return this.#limits;
  }

  /** Whether `close` has been asked for. */
  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Asks children and driver anew. Called by the registry when the node is opened. */
  async refreshLimits(): Promise<void> {
    const below = Object.values(this.children).map((child) => child.limits);
    const [first, ...rest] = below;
    const limits = first ? mergeLimits(first, ...rest) : defaultLimits();
    if (this.kind !== 'protocol') {
      // Blocks are those of the node below, at its offsets: it pads and aligns what is handed on, and alone knows where
      // its last block ends. Maxima and memory hold here too.
      limits.requestAlignment = 1;
      limits.pdiscardAlignment = limits.pwriteZeroesAlignment = 0;
    }
    await this._refreshLimits(limits);
    checkLimits(limits);
    this.#limits = limits;
  }

  read(offset: number, into: IoData, options: ReadOptions = noOptions): MaybePromise<void> {
    const data = requestData(into);
    const length = byteLength(data);
    this.#begin('read', offset, length, options);
    if (length === 0) return;
    this.stats.reads++;
    this.stats.readBytes += length;
    const legal = isLegal(offset, length, data, this.#limits, this.#memoryMatters ? this.memory : undefined);
    if (legal)
      return this.#flow.run('read', offset, length, options, () => this._read(offset, data, options));
    this.#countPadding(offset, length);
    return this.#flow.run('read', offset, length, options, () =>
      readPieces(this.#target, offset, data, options),
    );
  }

  write(offset: number, from: IoData, options: WriteOptions = noOptions): MaybePromise<void> {
    const data = requestData(from);
    const length = byteLength(data);
    this.#begin('write', offset, length, options);
    this.#checkWritable('write', offset, length);
    if (length === 0) return;
    if (
      this.common.detectZeroes !== 'off' &&
      this.supports.writeZeroes &&
      !options.compressed &&
      isZero(data)
    ) {
      this.stats.detectedZeroes++;
      const mayUnmap = this.common.detectZeroes === 'unmap';
      return this.writeZeroes(offset, length, { fua: options.fua, signal: options.signal, mayUnmap });
    }
    if (options.compressed && !this.supports.compress) {
      throw this.#error(
        'ERR_NOT_SUPPORTED',
        'write',
        offset,
        length,
        'this driver cannot store compressed data',
      );
    }
    this.stats.writes++;
    this.stats.writeBytes += length;
    const legal = isLegal(offset, length, data, this.#limits, this.#memoryMatters ? this.memory : undefined);
    if (!legal) this.#countPadding(offset, length);
    const { fua, passed } = this.#splitFua(options);
    return this.#flow.exclusive('write', offset, length, options, fua, () =>
      legal ? this._write(offset, data, passed) : writePieces(this.#target, offset, data, passed),
    );
  }

  writeZeroes(offset: number, length: number, options: ZeroOptions = noOptions): MaybePromise<void> {
    this.#begin('writeZeroes', offset, length, options);
    this.#checkWritable('writeZeroes', offset, length);
    if (length === 0) return;
    this.stats.writeZeroes++;
    this.stats.writeZeroesBytes += length;
    const { fua, passed } = this.#splitFua(options);
    const kept = passed.mayUnmap && this.common.discard !== 'unmap' ? { ...passed, mayUnmap: false } : passed;
    return this.#flow.exclusive('writeZeroes', offset, length, options, fua, () =>
      zeroPieces(this.#target, offset, length, this.supports.writeZeroes, kept),
    );
  }

  /** Tells the node that the bytes are not needed; what they read as afterwards is not said. */
  discard(offset: number, length: number, options: RequestOptions = noOptions): MaybePromise<void> {
    this.#begin('discard', offset, length, options);
    this.#checkWritable('discard', offset, length);
    if (length === 0 || this.common.discard !== 'unmap' || !this.supports.discard) return;
    this.stats.discards++;
    this.stats.discardBytes += length;
    const { requestAlignment, pdiscardAlignment, maxPdiscard } = this.#limits;
    const alignment = Math.max(requestAlignment, pdiscardAlignment);
    // Only whole blocks can be dropped; the last one of the node is whole even where it is short.
    const start = alignUp(offset, alignment);
    const end = offset + length === this.size ? this.size : alignDown(offset + length, alignment);
    if (end <= start) return;
    const step = Math.max(alignment, alignDown(minNonZero(maxPdiscard, Number.MAX_SAFE_INTEGER), alignment));
    return this.#flow.exclusive('discard', offset, length, options, false, async () => {
      for (let at = start; at < end; at += step) {
        options.signal?.throwIfAborted();
        await this._discard(at, Math.min(step, end - at), options);
      }
    });
  }

  /** When it settles, every write that was acknowledged before the call is on stable storage. */
  flush(options: RequestOptions = noOptions): MaybePromise<void> {
    this.#begin('flush', 0, 0, options);
    if (this.common.cache.noFlush) return;
    this.stats.flushes++;
    return this.#flow.run('flush', 0, 0, options, () => this._flush(options));
  }

  /** The extent at `offset`, cut to `length`: its status holds for all its bytes, but the next may be of the same. */
  blockStatus(offset: number, length: number, options: RequestOptions = noOptions): MaybePromise<Extent> {
    this.#begin('blockStatus', offset, length, options);
    if (length === 0) throw new RangeError('blockStatus: length must be at least 1 byte');
    this.stats.blockStatuses++;
    if (!this.supports.blockStatus) {
      return { offset, length, data: true, zero: false, present: true, depth: 0, compressed: false };
    }
    return this.#flow.run('blockStatus', offset, length, options, () =>
      this._blockStatus(offset, length, options),
    );
  }

  /** Changes the size. Smaller needs `shrink: true`. */
  async truncate(size: number, options: TruncateOptions = noOptions): Promise<void> {
    this.#begin('truncate', 0, 0, options);
    checkByteCount('size', size);
    this.#checkWritable('truncate', 0, size);
    if (!this.supports.resize) {
      throw this.#error(
        'ERR_NOT_SUPPORTED',
        'truncate',
        undefined,
        size,
        'this driver cannot change its size',
      );
    }
    if (size < this.size && !options.shrink) {
      const text = `shrinking from ${this.size} to ${size} bytes would cut off data; say shrink: true to mean it`;
      throw this.#error('ERR_INVALID_OPTION', 'truncate', undefined, size, text);
    }
    await this.#flow.exclusive('truncate', 0, 0, options, false, () => this._truncate(size, options));
  }

  /**
   * Copies bytes from another node below user space (reflink or in-kernel copy). Returns the bytes copied, fewer than
   * asked or 0 where it cannot: the caller goes on with read and write.
   */
  copyRange(
    source: BlockNode,
    sourceOffset: number,
    offset: number,
    length: number,
    options: RequestOptions = noOptions,
  ): MaybePromise<number> {
    this.#begin('copyRange', offset, length, options);
    source.#begin('copyRange', sourceOffset, length, options);
    this.#checkWritable('copyRange', offset, length);
    if (length === 0 || !this.supports.copyRange || source.driver !== this.driver) return 0;
    return this.#flow.exclusive('copyRange', offset, length, options, false, () =>
      this._copyRange(source, sourceOffset, offset, length, options),
    );
  }

  /**
   * Throws what a request of this range would fail with before it reaches the driver.
   * @throws TypeError, RangeError for what no node could take; BlockError ERR_NODE_CLOSED, ERR_OUT_OF_BOUNDS.
   */
  checkRange(op: Operation, offset: number, length: number): void {
    this.#assertOpen(op);
    checkByteCount('offset', offset);
    checkByteCount('length', length);
    if (offset + length > this.size) {
      const text = `bytes ${offset} to ${offset + length} are not within its ${this.size} bytes`;
      throw this.#error('ERR_OUT_OF_BOUNDS', op, offset, length, text);
    }
  }

  /** Shares the node: it closes when every holder has closed it. */
  retain(): this {
    this.#assertOpen('open');
    this.#owners++;
    return this;
  }

  /** Waits for requests in flight, flushes what was written, and closes the node and its children. Twice is fine. */
  close(): Promise<void> {
    if (this.#closing) return this.#closing;
    if (--this.#owners > 0) return Promise.resolve();
    this.#closing = this.#shutDown();
    return this.#closing;
  }

  /** What the format can do with the image besides moving its bytes. */
  get features(): ImageFeatures {
    return noFeatures;
  }

  /** What the driver says of itself in `describe()`: its own options, plain JSON. */
  describeOptions(): Record<string, unknown> {
    return {};
  }

  #error(
    code: string,
    op: string,
    offset: number | undefined,
    length: number | undefined,
    text: string,
  ): BlockError {
    const where = this.path ? ` ${this.path}` : '';
    const details = {
      driver: this.driver,
      node: this.name,
      op,
      path: this.path || undefined,
      offset,
      length,
    };
    return new BlockError(code, `${op}${where} (${this.driver}): ${text}`, details);
  }

  #assertOpen(op: string): void {
    if (this.#closing)
      throw this.#error('ERR_NODE_CLOSED', op, undefined, undefined, 'the node is closed; open it again');
  }

  #begin(op: Operation, offset: number, length: number, options: RequestOptions): void {
    this.checkRange(op, offset, length);
    options.signal?.throwIfAborted();
    if (requestChannel.hasSubscribers)
      requestChannel.publish({ node: this, op, offset, length } satisfies RequestEvent);
  }

  #checkWritable(op: Operation, offset: number, length: number): void {
    if (this.readOnly) {
      throw this.#error(
        'ERR_READ_ONLY',
        op,
        offset,
        length,
        'it was opened read-only; open it with readOnly: false',
      );
    }
    if (!this.supports.write)
      throw this.#error('ERR_NOT_SUPPORTED', op, offset, length, 'this driver cannot write');
    this.#changed = true;
  }

  #countPadding(offset: number, length: number): void {
    const { requestAlignment } = this.#limits;
    if (offset % requestAlignment !== 0 || length % requestAlignment !== 0) this.stats.padded++;
  }

  /** Whether the base class must flush after the request, and the options for the driver. */
  #splitFua<T extends WriteOptions | ZeroOptions>(options: T): { fua: boolean; passed: T } {
    if (!options.fua || this.supports.fua) return { fua: false, passed: options };
    return { fua: true, passed: { ...options, fua: false } };
  }

  async #shutDown(): Promise<void> {
    await this.#flow.drained();
    const failures: unknown[] = [];
    const attempt = async (work: () => MaybePromise<void>) => {
      try {
        await work();
      } catch (error) {
        failures.push(error);
      }
    };
    if (this.#changed && !this.common.cache.noFlush) await attempt(() => this._flush(noOptions));
    await attempt(() => this._close());
    for (const child of Object.values(this.children)) await attempt(() => child.close());
    if (failures.length > 0) throw this.#flow.failure(failures[0], 'close', 0, 0);
  }
}
