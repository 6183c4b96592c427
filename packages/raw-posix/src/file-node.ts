import {
  BlockError,
  type BlockLimits,
  BlockNode,
  type Extent,
  type IoData,
  type Location,
  type MaybePromise,
  type OpenContext,
  type ReadOptions,
  type RequestOptions,
  type TruncateOptions,
  type WriteOptions,
  type ZeroOptions,
} from '@blockyard/core';
import { byteLength, fill } from '@blockyard/iov-utils';
import { advised } from './advice.ts';
import { RangeCopy } from './copy.ts';
import { HoleMap, type Region } from './extents.ts';
import { fileLimits } from './file-limits.ts';
import type { HostFile } from './host.ts';
import type { Opened } from './opened.ts';
import { resize } from './preallocate.ts';
import { SizeWatch } from './size-watch.ts';
import { isTransient } from './system-codes.ts';
import { readRest, writeRest } from './transfer.ts';
import { RangeWork } from './zeroes.ts';

/** An open file or block device. */
export class FileNode extends BlockNode {
  readonly #opened: Opened;
  readonly #file: HostFile;
  readonly #start: number;
  readonly #size: SizeWatch;
  readonly #holes: HoleMap | undefined;
  readonly #ranges: RangeWork | undefined;
  readonly #copies = new RangeCopy();
  #flushFailure: BlockError | undefined;

  constructor(opened: Opened, location: Location, context: OpenContext) {
    const { host, file, kind, window, direct } = opened;
    const { calls } = file;
    const ranges = calls !== undefined;
    super({
      driver: { name: 'file', kind: 'protocol' },
      context,
      path: opened.filename,
      location,
      ...(host.name === 'native' || direct ? { memory: host.memory() } : {}),
      supports: {
        write: true,
        discard: ranges,
        writeZeroes: ranges,
        blockStatus: ranges && kind === 'file',
        resize: kind === 'file' && window === undefined,
        fua: false,
        compress: false,
        copyRange: ranges,
      },
    });
    this.#opened = opened;
    this.#file = file;
    this.#start = opened.start;
    const ask = async () => (kind === 'file' ? (await file.status()).size : (await file.blockDevice()).size);
    this.#size = new SizeWatch(file, opened.fileSize, ask);
    this.#holes = calls && new HoleMap(file, calls);
    this.#ranges = calls && new RangeWork(file, calls, kind);
  }

  get size(): number {
    return this.#opened.window ?? Math.max(0, this.#size.bytes - this.#start);
  }

  /** The path as it was given, made absolute; links not resolved. */
  get absolute(): string {
    return this.#opened.absolute;
  }

  override describeOptions(): Record<string, unknown> {
    const { filename, direct, locked, host, start, window } = this.#opened;
    return {
      filename,
      aio: this.#file.engine,
      direct,
      locking: locked ? 'on' : 'off',
      host: host.name,
      ...(start === 0 ? {} : { offset: start }),
      ...(window === undefined ? {} : { size: window }),
    };
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): Promise<void> {
    const position = this.#start + offset;
    const length = byteLength(into);
    const { signal } = options;
    return this.#file.read(position, into, signal).then(
      (count) => {
        if (count === length && position + length <= this.#size.bytes) return;
        return this.#readEnd(position, into, length, count, signal);
      },
      (error: unknown) => {
        if (!isTransient(error)) throw advised(error);
        return this.#readEnd(position, into, length, 0, signal);
      },
    );
  }

  protected override _write(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    const position = this.#start + offset;
    const length = byteLength(from);
    const { signal } = options;
    if (position + length > this.#size.bytes) return this.#writeTail(position, from, signal);
    return this.#file.write(position, from, signal).then(
      (count) => (count === length ? undefined : writeRest(this.#file, position, from, count, signal)),
      (error: unknown) => {
        if (!isTransient(error)) throw advised(error);
        return writeRest(this.#file, position, from, 0, signal);
      },
    );
  }

  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): Promise<void> {
    const { sector } = this.#opened;
    if (length % sector !== 0) {
      // The end of a window inside a device's sector: only a read-modify-write leaves the rest of it alone.
      const text = `${length} bytes are not whole sectors of ${sector}`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { driver: 'file', op: 'writeZeroes', offset, length });
    }
    this.#holes?.invalidate();
    return (this.#ranges as RangeWork)
      .zero(this.#start + offset, length, options)
      .finally(() => this.#holes?.invalidate());
  }

  protected override async _discard(offset: number, length: number): Promise<void> {
    const whole = length - (length % this.#opened.sector);
    if (whole === 0) return;
    this.#holes?.invalidate();
    await this.#ranges?.discard(this.#start + offset, whole);
    this.#holes?.invalidate();
  }

  /** After a failed flush the kernel may have dropped what it could not write: no later flush may say that all is well. */
  protected override _flush(): Promise<void> {
    if (this.#flushFailure) return Promise.reject(this.#flushFailure);
    return this.#file.sync(true).catch((error: unknown) => {
      const { code = 'EIO', message } = error as NodeJS.ErrnoException;
      const text = `flush ${this.path}: ${message}; what was written since the last good flush may be lost, and every later flush of this node fails: check the disk, open again, write again`;
      this.#flushFailure ??= new BlockError(code, text, {
        driver: 'file',
        node: this.name,
        op: 'flush',
        path: this.path,
        cause: error,
      });
      throw this.#flushFailure;
    });
  }

  /** Where holes cannot be found, what is said of the bytes is still where they are. */
  override blockStatus(offset: number, length: number, options?: RequestOptions): MaybePromise<Extent> {
    const extent = super.blockStatus(offset, length, options);
    if (this.supports.blockStatus || extent instanceof Promise) return extent;
    return { ...extent, hostOffset: this.#start + offset, hostNode: this };
  }

  protected override _blockStatus(offset: number, length: number): MaybePromise<Extent> {
    const position = this.#start + offset;
    const end = (this.#holes as HoleMap).known(position);
    return end === undefined
      ? this.#ask(offset, position, length)
      : this.#extent(offset, position, length, { data: true, end });
  }

  protected override async _truncate(size: number, options: TruncateOptions): Promise<void> {
    const { host, direct, absolute } = this.#opened;
    const to = this.#start + size;
    const { preallocation, signal } = options;
    this.#holes?.invalidate();
    await this.#size.change(async () => {
      await resize({
        host,
        file: this.#file,
        path: absolute,
        direct,
        from: this.#size.bytes,
        to,
        preallocation,
        signal,
      });
      this.#size.set(to);
    });
    this.#holes?.invalidate();
  }

  protected override _copyRange(
    source: BlockNode,
    sourceOffset: number,
    offset: number,
    length: number,
  ): MaybePromise<number> {
    if (!(source instanceof FileNode)) return 0;
    const from = {
      file: source.#file,
      position: source.#start + sourceOffset,
      blockSize: source.#opened.status.blockSize,
    };
    const to = { file: this.#file, position: this.#start + offset, blockSize: this.#opened.status.blockSize };
    this.#holes?.invalidate();
    return this.#copies.copy(from, to, length).finally(() => this.#holes?.invalidate());
  }

  /** Also looks at the size anew, and takes over what it finds. */
  protected override async _refreshLimits(limits: BlockLimits): Promise<void> {
    await this.#size.look(true);
    await fileLimits(limits, this.#opened);
  }

  protected override _close(): Promise<void> {
    return this.#file.close();
  }

  async #ask(offset: number, position: number, length: number): Promise<Extent> {
    const region = await (this.#holes as HoleMap).find(position, position + length);
    if (!region) throw await this.#truncated('blockStatus', position, length, position);
    if (region.end >= this.#size.bytes) await this.#size.look();
    return this.#extent(offset, position, length, region);
  }

  #extent(offset: number, position: number, length: number, { data, end }: Region): Extent {
    const found = Math.min(length, end - position);
    const status = { data, zero: !data, present: true, depth: 0, compressed: false };
    const extent: Extent = { offset, length: found, ...status };
    return data ? { ...extent, hostOffset: position, hostNode: this } : extent;
  }

  /** The end of a read that came short, or that reaches past the end of the file. */
  async #readEnd(
    position: number,
    into: IoData,
    length: number,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const done = count === length ? count : await readRest(this.#file, position, into, count, signal);
    if (position + done > this.#size.bytes) await this.#size.look();
    if (done === length) return;
    // Blocks go past an unaligned end; what is missing before it was cut off by somebody else.
    if (position + done < this.#size.bytes)
      throw await this.#truncated('read', position, length, position + done);
    fill(into, 0, done);
  }

  /** A write whose last block goes past the file's unaligned end: the file gets its size back, to the byte. */
  #writeTail(position: number, from: IoData, signal: AbortSignal | undefined): Promise<void> {
    return this.#size.change(async () => {
      try {
        await writeRest(this.#file, position, from, 0, signal);
      } finally {
        await this.#size.restore();
      }
    });
  }

  async #truncated(op: string, position: number, length: number, missing: number): Promise<BlockError> {
    const now = await this.#size.look();
    const text = `${op} of ${length} bytes at ${position} in ${this.path}: there is nothing at ${missing}, the file has ${now} bytes and had ${this.#size.bytes}: somebody cut it off; restore it, or open it again to work with what is left`;
    return new BlockError('EIO', text, {
      driver: 'file',
      node: this.name,
      op,
      path: this.path,
      offset: missing,
      length,
    });
  }
}
