import {
  type BlockNode,
  type Extent,
  type MaybePromise,
  protocolNode,
  type RequestOptions,
} from '@blockyard/core';
import type { Parts } from './parts.ts';
import { looksPreallocated } from './preallocated.ts';
import { hasPlace, kinds, newRun, type Run, readsBacking } from './run.ts';

/** L2 slices that one question looks through: with 64 KiB clusters, 8 GiB of the disk. */
const mostLookups = 256;

/** Tells extents: of this image, and of the images behind it where it has nothing. */
export class StatusTeller {
  readonly #parts: Parts;
  /** Whether data clusters may be holes of the file below; asked once, when the first of them is met. */
  #preallocated: MaybePromise<boolean> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  tell(offset: number, length: number, options: RequestOptions): MaybePromise<Extent> {
    const found = this.#findRun(offset, length);
    return found instanceof Promise
      ? found.then((run) => this.#extent(run, offset, options))
      : this.#extent(found, offset, options);
  }

  /** The run at `offset`, joined with those after it that go on with it. */
  #findRun(offset: number, length: number): MaybePromise<Run> {
    const run = newRun();
    const { mapping } = this.#parts;
    if (mapping.find(offset, length, run)) return this.#findSlowly(offset, length);
    return this.#grow(run, offset, length, 0) ?? run;
  }

  async #findSlowly(offset: number, length: number): Promise<Run> {
    const run = newRun();
    const { mapping } = this.#parts;
    let wait = mapping.find(offset, length, run);
    while (wait) wait = mapping.find(offset, length, run, await wait);
    return (await this.#grow(run, offset, length, 0)) ?? run;
  }

  /** Undefined when it finished without waiting. */
  #grow(run: Run, offset: number, length: number, lookups: number): Promise<Run> | undefined {
    const next = newRun();
    for (let done = lookups; done < mostLookups && run.length < length; done++) {
      const wait = this.#peek(offset + run.length, length - run.length, next);
      if (wait === 'end') return undefined;
      if (wait) return this.#growSlowly(run, offset, length, done, wait);
      if (!extend(run, next)) return undefined;
    }
    return undefined;
  }

  async #growSlowly(
    run: Run,
    offset: number,
    length: number,
    lookups: number,
    wait: Promise<unknown>,
  ): Promise<Run> {
    try {
      await wait;
    } catch {
      // What cannot be read is told when it is asked for by itself.
      return run;
    }
    return (await this.#grow(run, offset, length, lookups)) ?? run;
  }

  /** Looks at what follows; an error there belongs to the question that begins there. */
  #peek(offset: number, length: number, next: Run): Promise<unknown> | 'end' | undefined {
    try {
      return this.#parts.mapping.find(offset, length, next);
    } catch {
      return 'end';
    }
  }

  #extent(run: Run, offset: number, options: RequestOptions): MaybePromise<Extent> {
    if (readsBacking(run.kind)) return this.#behind(run, offset, options);
    const extent = this.#own(run, offset);
    if (run.kind !== kinds.data || this.#parts.data !== this.#parts.file)
      return this.#place(extent, run, options);
    this.#preallocated ??= looksPreallocated(this.#parts.header, this.#parts.file);
    const asked = this.#preallocated;
    if (asked instanceof Promise) {
      return asked.then((yes) => {
        this.#preallocated = yes;
        return yes ? this.#below(extent, run, options) : this.#place(extent, run, options);
      });
    }
    return asked ? this.#below(extent, run, options) : this.#place(extent, run, options);
  }

  #own(run: Run, offset: number): Extent {
    const data = run.kind === kinds.data || run.kind === kinds.compressed;
    const compressed = run.kind === kinds.compressed;
    return { offset, length: run.length, data, zero: !data, present: true, depth: 0, compressed };
  }

  /** Adds where the bytes are. */
  #place(extent: Extent, run: Run, options: RequestOptions): MaybePromise<Extent> {
    if (!hasPlace(run.kind)) return extent;
    const { data } = this.#parts;
    if (data.kind !== 'protocol') return this.#placeThrough(data, extent, run, options);
    extent.hostOffset = run.host;
    extent.hostNode = data;
    return extent;
  }

  /** Filters and windows below know where their own bytes are. */
  async #placeThrough(data: BlockNode, extent: Extent, run: Run, options: RequestOptions): Promise<Extent> {
    const length = Math.min(extent.length, data.size - run.host);
    if (length <= 0) return extent;
    const below = await data.blockStatus(run.host, length, options);
    const { hostOffset, hostNode = protocolNode(data) } = below;
    if (hostOffset === undefined) return extent;
    // A missing tail of the last cluster stays with the rest of it.
    const whole = below.length === length;
    return { ...extent, length: whole ? extent.length : below.length, hostOffset, hostNode };
  }

  /** Data clusters of a file that is mostly holes: those that are holes read as zeroes. */
  async #below(extent: Extent, run: Run, options: RequestOptions): Promise<Extent> {
    const { file } = this.#parts;
    const have = Math.min(extent.length, file.size - run.host);
    if (have > 0) {
      const below = await file.blockStatus(run.host, have, options);
      if (below.zero) extent.zero = true;
      if (below.length < have) extent.length = below.length;
    } else extent.zero = true;
    return await this.#place(extent, run, options);
  }

  #behind(run: Run, offset: number, options: RequestOptions): MaybePromise<Extent> {
    const { backing } = this.#parts;
    if (!backing || offset >= backing.size) {
      const extent = { ...this.#own(run, offset), data: false, zero: true, present: false };
      return this.#place(extent, run, options);
    }
    const length = Math.min(run.length, backing.size - offset);
    const found = backing.blockStatus(offset, length, options);
    return found instanceof Promise ? found.then(deeper) : deeper(found);
  }
}

const deeper = (extent: Extent): Extent => ({ ...extent, depth: extent.depth + 1 });

function extend(run: Run, next: Run): boolean {
  if (next.kind !== run.kind) return false;
  if (hasPlace(run.kind) && next.host !== run.host + run.length) return false;
  run.length += next.length;
  return true;
}
