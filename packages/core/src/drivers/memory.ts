import { byteLength, copyFrom, copyTo, type IoData } from '@blockyard/iov-utils';
import { BlockNode } from '../block-node.ts';
import type { BlockDriver, OpenContext } from '../driver.ts';
import type { Extent } from '../extent.ts';
import type { BlockLimits } from '../limits.ts';
import type { TruncateOptions } from '../request/options.ts';

export interface MemoryOptions {
  /** Bytes of an empty disk. */
  size?: number;
  /** Contents, used in place: the disk is this array until it is resized. */
  data?: Uint8Array;
}

/** Storage comes in pages, made when first written: a large disk costs what is in it. */
const pageBytes = 1 << 16;

class MemoryNode extends BlockNode {
  #size: number;
  readonly #pages = new Map<number, Uint8Array>();

  constructor(options: MemoryOptions, context: OpenContext) {
    const supports = {
      write: true,
      discard: true,
      writeZeroes: true,
      blockStatus: true,
      resize: true,
      fua: true,
      compress: false,
      copyRange: false,
    };
    super({ driver: { name: 'memory', kind: 'protocol' }, context, supports });
    const { data } = options;
    this.#size = data?.byteLength ?? options.size ?? 0;
    for (let at = 0; data && at < data.byteLength; at += pageBytes) {
      this.#pages.set(at / pageBytes, data.subarray(at, Math.min(at + pageBytes, data.byteLength)));
    }
  }

  get size(): number {
    return this.#size;
  }

  protected override _read(offset: number, into: IoData): void {
    this.#walk(offset, byteLength(into), (page, from, length, done) => {
      const bytes = page?.subarray(from, from + length);
      // A page that `data` cut short reads as zeroes beyond its end, as do pages never written.
      const have = bytes?.byteLength ?? 0;
      if (bytes && have > 0) copyFrom(into, bytes, done);
      if (have < length) copyFrom(into, new Uint8Array(length - have), done + have);
    });
  }

  protected override _write(offset: number, from: IoData): void {
    this.#walk(offset, byteLength(from), (page, start, length, done, index) => {
      let target = page;
      if (!target || target.byteLength < start + length) {
        const grown = new Uint8Array(pageBytes);
        if (target) grown.set(target);
        this.#pages.set(index, grown);
        target = grown;
      }
      copyTo(from, target.subarray(start, start + length), done);
    });
  }

  protected override _writeZeroes(offset: number, length: number): void {
    this.#walk(offset, length, (page, start, count, _done, index) => {
      if (page && count === pageBytes) this.#pages.delete(index);
      else page?.fill(0, start, start + count);
    });
  }

  protected override _discard(offset: number, length: number): void {
    this._writeZeroes(offset, length);
  }

  protected override _flush(): void {}

  protected override _blockStatus(offset: number, length: number): Extent {
    const index = Math.floor(offset / pageBytes);
    const data = this.#pages.has(index);
    const stop = (data ? this.#endOfPages(index) : this.#nextPage(index)) * pageBytes;
    const found = Math.min(length, stop - offset);
    return { offset, length: found, data, zero: !data, present: true, depth: 0, compressed: false };
  }

  protected override async _truncate(size: number, _options: TruncateOptions): Promise<void> {
    const keep = Math.ceil(size / pageBytes);
    for (const index of [...this.#pages.keys()]) if (index >= keep) this.#pages.delete(index);
    // What is cut off must not come back when the disk grows again.
    this.#pages.get(keep - 1)?.fill(0, size - (keep - 1) * pageBytes);
    this.#size = size;
  }

  protected override _refreshLimits(limits: BlockLimits): void {
    limits.minMemAlignment = 1;
  }

  #endOfPages(index: number): number {
    let next = index + 1;
    while (this.#pages.has(next)) next++;
    return next;
  }

  /** The first page after a gap, found among the pages: a large disk has far more gap than pages. */
  #nextPage(index: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const page of this.#pages.keys()) if (page > index && page < next) next = page;
    return next;
  }

  #walk(
    offset: number,
    length: number,
    visit: (page: Uint8Array | undefined, start: number, length: number, done: number, index: number) => void,
  ): void {
    for (let done = 0; done < length; ) {
      const index = Math.floor((offset + done) / pageBytes);
      const start = (offset + done) % pageBytes;
      const count = Math.min(pageBytes - start, length - done);
      visit(this.#pages.get(index), start, count, done, index);
      done += count;
    }
  }
}

/** A disk in memory. */
export function memory(): BlockDriver<MemoryOptions> {
  return {
    name: 'memory',
    kind: 'protocol',
    help: 'a disk in memory',
    options: {
      size: { type: 'size', help: 'bytes of an empty disk' },
      data: { type: 'any', help: 'contents, a Uint8Array used in place' },
    },
    open: async (options, context) => new MemoryNode(options, context),
  };
}
