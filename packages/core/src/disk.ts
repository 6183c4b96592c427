import type { IoData } from '@blockyard/iov-utils';
import type { BlockNode } from './block-node.ts';
import { describeNode, type NodeDescription } from './describe.ts';
import { continues, type Extent } from './extent.ts';
import type { BlockLimits } from './limits.ts';
import { createFor } from './memory.ts';
import { alignUp } from './request/align.ts';
import { checkByteCount } from './request/arguments.ts';
import type {
  ReadOptions,
  RequestOptions,
  TruncateOptions,
  WriteOptions,
  ZeroOptions,
} from './request/options.ts';
import type { NodeStats } from './stats.ts';
import { readableFrom, type StreamRange, writableTo } from './streams.ts';
import type { Supports } from './supports.ts';

/** The user's handle on the root of a graph. Every method that does I/O returns a promise. */
export class Disk {
  /** The root node, for operations that work on nodes. */
  readonly node: BlockNode;

  constructor(node: BlockNode) {
    this.node = node;
  }

  /** Bytes. */
  get size(): number {
    return this.node.size;
  }
  get limits(): Readonly<BlockLimits> {
    return this.node.limits;
  }
  get supports(): Readonly<Supports> {
    return this.node.supports;
  }
  get stats(): NodeStats {
    return this.node.stats;
  }
  get readOnly(): boolean {
    return this.node.readOnly;
  }
  get closed(): boolean {
    return this.node.closed;
  }

  /** Reads into memory of its own, aligned for this disk and left to the garbage collector. */
  read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array>;
  /** Fills the caller's memory, which must not be touched until the promise settles. */
  read<T extends IoData>(offset: number, into: T, options?: ReadOptions): Promise<T>;
  read(offset: number, what: number | IoData, options?: ReadOptions): Promise<IoData> {
    try {
      const into = typeof what === 'number' ? this.#own(offset, what) : what;
      const work = this.node.read(offset, into, options);
      return work instanceof Promise ? work.then(() => into) : Promise.resolve(into);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Acknowledged when the promise resolves; on stable storage after a `flush`, or at once with `fua`. */
  write(offset: number, from: IoData, options?: WriteOptions): Promise<void> {
    try {
      return Promise.resolve(this.node.write(offset, from, options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async writeZeroes(offset: number, length: number, options?: ZeroOptions): Promise<void> {
    await this.node.writeZeroes(offset, length, options);
  }
  async discard(offset: number, length: number, options?: RequestOptions): Promise<void> {
    await this.node.discard(offset, length, options);
  }
  /** Every write acknowledged before the call is on stable storage when it resolves. */
  async flush(options?: RequestOptions): Promise<void> {
    await this.node.flush(options);
  }
  async blockStatus(offset: number, length: number, options?: RequestOptions): Promise<Extent> {
    return await this.node.blockStatus(offset, length, options);
  }
  async truncate(size: number, options?: TruncateOptions): Promise<void> {
    await this.node.truncate(size, options);
  }

  /** The extents of a range, neighbours of the same status joined. */
  async *extents(range: StreamRange & RequestOptions = {}): AsyncGenerator<Extent, void, undefined> {
    const { start = 0, end = this.size, signal } = range;
    checkByteCount('start', start);
    let joined: Extent | undefined;
    for (let at = start; at < end; ) {
      const next = await this.node.blockStatus(at, end - at, { signal });
      at += next.length;
      if (joined && continues(joined, next)) joined = { ...joined, length: joined.length + next.length };
      else {
        if (joined) yield joined;
        joined = next;
      }
    }
    if (joined) yield joined;
  }

  /** The bytes of a range as a Web stream of Uint8Array chunks. */
  readable(range: StreamRange = {}, options: RequestOptions = {}): ReadableStream<Uint8Array> {
    return readableFrom(this.node, range, options);
  }

  /** A Web stream that writes its chunks one after the other, and flushes before it closes. */
  writable(range: StreamRange = {}, options: RequestOptions = {}): WritableStream<Uint8Array> {
    return writableTo(this.node, range, options);
  }

  /** Aligned memory from the pool, contents undefined, for hot loops; give it back with `release`. */
  allocate(length: number): Uint8Array {
    checkByteCount('length', length);
    const { minMemAlignment, optMemAlignment } = this.limits;
    const view = this.node.memory.allocate(alignUp(length, minMemAlignment), optMemAlignment);
    return view.byteLength === length ? view : view.subarray(0, length);
  }
  release(view: Uint8Array): void {
    this.node.memory.release(view);
  }

  /** The whole graph with options, limits and counters, as plain JSON. */
  describe(): NodeDescription {
    return describeNode(this.node);
  }

  /** Waits for what is in flight, flushes and closes the graph. Twice is fine. */
  close(): Promise<void> {
    return this.node.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #own(offset: number, length: number): Uint8Array {
    // Before memory is spent on it.
    this.node.checkRange('read', offset, length);
    return createFor(this.node, length);
  }
}
