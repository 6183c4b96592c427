import {
  type BlockDriver,
  BlockNode,
  createRegistry,
  type OpenContext,
  type TruncateOptions,
} from '@blockyard/core';
import { byteLength, copyFrom, copyTo, type IoData } from '@blockyard/iov-utils';

interface Change {
  offset: number;
  bytes: Uint8Array;
}

class FailingNode extends BlockNode {
  readonly #file: FailingFile;

  constructor(file: FailingFile, context: OpenContext) {
    const supports = {
      write: true,
      discard: false,
      writeZeroes: false,
      blockStatus: false,
      resize: true,
      fua: false,
      compress: false,
      copyRange: false,
    };
    super({ driver: { name: 'failing', kind: 'protocol' }, context, supports });
    this.#file = file;
  }

  get size(): number {
    return this.#file.bytes.length;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    this.#file.count();
    this.#file.checkByte(offset, byteLength(into));
    copyFrom(into, this.#file.bytes.subarray(offset, offset + byteLength(into)));
  }

  protected override async _write(offset: number, from: IoData): Promise<void> {
    this.#file.count();
    const bytes = new Uint8Array(byteLength(from));
    copyTo(from, bytes);
    this.#file.bytes.set(bytes, offset);
    this.#file.pending.push({ offset, bytes });
  }

  protected override async _flush(): Promise<void> {
    this.#file.count();
    this.#file.flushed();
  }

  protected override async _truncate(size: number, _options: TruncateOptions): Promise<void> {
    this.#file.count();
    this.#file.resize(size);
  }
}

const failure = () => Object.assign(new Error('made to fail'), { code: 'EIO' });

/** A file in memory of which one request fails, and that knows what a power cut could leave of it. */
export class FailingFile {
  bytes: Uint8Array;
  requests = 0;
  /** The request, counted from 1, that fails, and all after it unless `failOnce`. */
  failAt = Number.POSITIVE_INFINITY;
  failOnce = false;
  /** Reads of it fail. */
  badByte = -1;
  /** Writes since the last flush. */
  pending: Change[] = [];
  /** Called before every flush and at the end: with what is durable, and what may or may not be. */
  onFlush: ((durable: Uint8Array, pending: readonly Change[]) => void) | undefined;
  #durable: Uint8Array;

  constructor(image: Uint8Array) {
    this.bytes = image.slice();
    this.#durable = image.slice();
  }

  count(): void {
    this.requests++;
    if (this.failOnce ? this.requests === this.failAt : this.requests >= this.failAt) throw failure();
  }

  checkByte(offset: number, length: number): void {
    if (this.badByte >= offset && this.badByte < offset + length) throw failure();
  }

  flushed(): void {
    this.onFlush?.(this.#durable, this.pending);
    this.#durable = this.bytes.slice();
    this.pending = [];
  }

  resize(size: number): void {
    const grown = new Uint8Array(size);
    grown.set(this.bytes.subarray(0, size));
    this.bytes = grown;
  }

  open(): Promise<BlockNode> {
    const driver: BlockDriver = {
      name: 'failing',
      kind: 'protocol',
      help: 'a file in memory that fails',
      options: {},
      open: async (_options, context) => new FailingNode(this, context),
    };
    return createRegistry([driver]).openNode({ driver: 'failing' });
  }
}

/** The file after a power cut: of every sector written since the last flush, `keep` says whether it was stored. */
export function afterPowerCut(
  durable: Uint8Array,
  pending: readonly Change[],
  keep: () => boolean,
): Uint8Array {
  const end = Math.max(durable.length, ...pending.map(({ offset, bytes }) => offset + bytes.length));
  const image = new Uint8Array(end);
  image.set(durable);
  for (const { offset, bytes } of pending)
    for (let at = 0; at < bytes.length; at += 512)
      if (keep()) image.set(bytes.subarray(at, at + 512), offset + at);
  return image;
}
