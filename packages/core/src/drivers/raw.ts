import type { IoData } from '@blockyard/iov-utils';
import { BlockNode } from '../block-node.ts';
import type { BlockDriver, ChildOptions, OpenContext } from '../driver.ts';
import { BlockError } from '../errors.ts';
import type { Extent } from '../extent.ts';
import type {
  MaybePromise,
  ReadOptions,
  RequestOptions,
  TruncateOptions,
  WriteOptions,
  ZeroOptions,
} from '../request/options.ts';
import { guardedBytes, ProbedGuard } from './probed-guard.ts';

export interface RawOptions {
  file: ChildOptions;
  /** First byte of the window on the file. */
  offset?: number;
  /** Bytes of the window; to the end of the file without it. */
  size?: number;
  /** The format was guessed: refuse writes to the first sector that would change what the next guess says. */
  probed?: boolean;
}

class RawNode extends BlockNode {
  readonly #file: BlockNode;
  readonly #offset: number;
  readonly #window: number | undefined;
  readonly #guard: ProbedGuard | undefined;

  constructor(file: BlockNode, options: RawOptions, context: OpenContext) {
    const resize = file.supports.resize && options.size === undefined;
    super({
      driver: { name: 'raw', kind: 'format' },
      context,
      supports: { ...file.supports, resize },
      children: { file },
    });
    this.#file = file;
    this.#offset = options.offset ?? 0;
    this.#window = options.size;
    this.#guard = options.probed ? new ProbedGuard(file, this.#offset, context.registry) : undefined;
  }

  get size(): number {
    return this.#window ?? this.#file.size - this.#offset;
  }

  override describeOptions(): Record<string, unknown> {
    return {
      offset: this.#offset,
      ...(this.#window === undefined ? {} : { size: this.#window }),
      probed: this.#guard !== undefined,
    };
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    return this.#file.read(this.#offset + offset, into, options);
  }

  protected override _write(offset: number, from: IoData, options: WriteOptions): MaybePromise<void> {
    const write = (bytes: IoData) => this.#file.write(this.#offset + offset, bytes, options);
    return this.#guard && offset < guardedBytes ? this.#guard.write(offset, from, write) : write(from);
  }

  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): MaybePromise<void> {
    const zero = () => this.#file.writeZeroes(this.#offset + offset, length, options);
    return this.#guard && offset < guardedBytes ? this.#guard.zero(offset, length, zero) : zero();
  }

  protected override _discard(offset: number, length: number, options: RequestOptions): MaybePromise<void> {
    const discard = () => this.#file.discard(this.#offset + offset, length, options);
    return this.#guard && offset < guardedBytes ? this.#guard.zero(offset, length, discard) : discard();
  }

  protected override _flush(options: RequestOptions): MaybePromise<void> {
    return this.#file.flush(options);
  }

  protected override async _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): Promise<Extent> {
    const extent = await this.#file.blockStatus(this.#offset + offset, length, options);
    return { ...extent, offset };
  }

  protected override _truncate(size: number, options: TruncateOptions): Promise<void> {
    const truncate = () => this.#file.truncate(this.#offset + size, options);
    // What is cut off is zero when the image grows again.
    return this.#guard && size < guardedBytes ? this.#guard.zero(size, guardedBytes, truncate) : truncate();
  }

  protected override _copyRange(
    source: BlockNode,
    sourceOffset: number,
    offset: number,
    length: number,
    options: RequestOptions,
  ): MaybePromise<number> {
    const from = source as RawNode;
    if (this.#guard && offset < guardedBytes) return 0;
    return this.#file.copyRange(
      from.#file,
      from.#offset + sourceOffset,
      this.#offset + offset,
      length,
      options,
    );
  }
}

/** The format without one: the bytes of the file, or a window of them. */
export function raw(): BlockDriver<RawOptions> {
  return {
    name: 'raw',
    kind: 'format',
    help: 'the bytes of a file, or a window of them, as they are',
    options: {
      file: { type: 'node', required: true, help: 'where the bytes are' },
      offset: { type: 'size', help: 'first byte of the window (default 0)' },
      size: { type: 'size', help: 'bytes of the window (default: to the end)' },
      probed: { type: 'boolean', help: 'refuse writes that would change the guessed format' },
    },
    async open(options, context) {
      const file = await context.openChild('file', options.file);
      const { offset = 0, size } = options;
      if (offset > file.size || (size !== undefined && offset + size > file.size)) {
        await file.close();
        const text = `open ${file.path}: the window of ${size ?? 'all'} bytes at ${offset} is not within its ${file.size} bytes`;
        throw new BlockError('ERR_OUT_OF_BOUNDS', text, { op: 'open', path: file.path, offset });
      }
      return new RawNode(file, options, context);
    },
  };
}
