import type { BlockNode } from '../block-node.ts';
import { systemError } from '../errors.ts';
import type { Operation } from '../node-init.ts';
import { alignDown, alignUp } from './align.ts';
import { type MaybePromise, noOptions, type RequestOptions } from './options.ts';
import { RequestTracker, type Tracked } from './tracker.ts';

type Work<T> = () => MaybePromise<T>;

/** Where a node's requests run: counted while they do, ordered where they must be, their failures named. */
export class RequestFlow {
  readonly #node: BlockNode;
  readonly #flush: (options: RequestOptions) => MaybePromise<void>;
  readonly #tracker = new RequestTracker();
  #inFlight = 0;
  #idle: (() => void)[] = [];

  constructor(node: BlockNode, flush: (options: RequestOptions) => MaybePromise<void>) {
    this.#node = node;
    this.#flush = flush;
  }

  /** Counts the request while it runs, and gives its failure a name and a place. */
  run<T>(
    op: Operation,
    offset: number,
    length: number,
    options: RequestOptions,
    work: Work<T>,
  ): MaybePromise<T> {
    let result: MaybePromise<T>;
    try {
      result = work();
    } catch (error) {
      throw this.failure(error, op, offset, length);
    }
    if (!(result instanceof Promise)) return result;
    this.#inFlight++;
    return result.then(
      (value) => {
        this.#settled();
        options.signal?.throwIfAborted();
        return value;
      },
      (error: unknown) => {
        this.#settled();
        throw options.signal?.aborted ? options.signal.reason : this.failure(error, op, offset, length);
      },
    );
  }

  /** Runs a request that changes bytes: in order with those that overlap it where one of them reads, modifies and writes. */
  exclusive<T>(
    op: Operation,
    offset: number,
    length: number,
    options: RequestOptions,
    flushAfter: boolean,
    work: Work<T>,
  ): MaybePromise<T> {
    const { requestAlignment } = this.#node.limits;
    return this.run(op, offset, length, options, () => {
      const start = alignDown(offset, requestAlignment);
      // A change of size waits for every request, and every later one for it.
      const whole = op === 'truncate';
      const end = whole ? Number.POSITIVE_INFINITY : alignUp(offset + length, requestAlignment);
      const serialising = whole || start !== offset || end !== offset + length;
      const { request, wait } = this.#tracker.begin(start, end, serialising);
      return wait || flushAfter
        ? this.#ordered(request, wait, flushAfter, options, work)
        : this.#tracked(request, work);
    });
  }

  /** Resolves when nothing is in flight. */
  async drained(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  failure(error: unknown, op: Operation | 'close', offset: number, length: number): unknown {
    const { driver, name, stats } = this.#node;
    stats.failed++;
    if (error instanceof RangeError || error instanceof TypeError || (error as Error)?.name === 'AbortError')
      return error;
    const path = this.#node.path || undefined;
    const what = length > 0 ? `${op} of ${length} bytes at ${offset}` : op;
    return systemError(error, `${what} in ${path ?? driver}`, {
      driver,
      node: name,
      op,
      path,
      offset,
      length,
    });
  }

  #tracked<T>(request: Tracked, work: Work<T>): MaybePromise<T> {
    let result: MaybePromise<T>;
    try {
      result = work();
    } catch (error) {
      this.#tracker.end(request);
      throw error;
    }
    if (!(result instanceof Promise)) {
      this.#tracker.end(request);
      return result;
    }
    // Not `finally`: it makes three promises of one, for every write.
    return result.then(
      (value) => {
        this.#tracker.end(request);
        return value;
      },
      (error: unknown) => {
        this.#tracker.end(request);
        throw error;
      },
    );
  }

  async #ordered<T>(
    request: Tracked,
    wait: Promise<unknown> | undefined,
    flushAfter: boolean,
    options: RequestOptions,
    work: Work<T>,
  ): Promise<T> {
    try {
      if (wait) {
        this.#node.stats.serialised++;
        await wait;
        options.signal?.throwIfAborted();
      }
      const result = await work();
      if (flushAfter && !this.#node.common.cache.noFlush) await this.#flush(noOptions);
      return result;
    } finally {
      this.#tracker.end(request);
    }
  }

  #settled(): void {
    if (--this.#inFlight === 0 && this.#idle.length > 0) for (const resume of this.#idle.splice(0)) resume();
  }
}
