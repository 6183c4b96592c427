import {
  alignUp,
  type BlockDriver,
  type BlockLimits,
  BlockNode,
  type Extent,
  type Memory,
  type OpenContext,
  type Supports,
} from '@blockyard/core';
import { byteLength, copyFrom, copyTo, type IoData } from '@blockyard/iov-utils';

export interface Call {
  op: string;
  offset: number;
  length: number;
  flags?: Record<string, unknown>;
}

export interface StrictOptions {
  size: number;
  limits?: Partial<BlockLimits>;
  supports?: Partial<Supports>;
  memory?: Memory;
  /** Called before every driver request; may wait or throw. */
  before?: (call: Call) => void | Promise<void>;
}

const all: Supports = {
  write: true,
  discard: true,
  writeZeroes: true,
  blockStatus: true,
  resize: true,
  fua: true,
  compress: false,
  copyRange: false,
};

/** A disk in memory that throws on any request its limits do not allow, and records what reached it. */
export class StrictNode extends BlockNode {
  readonly calls: Call[] = [];
  bytes: Uint8Array;
  #size: number;
  readonly #options: StrictOptions;

  constructor(options: StrictOptions, context: OpenContext) {
    super({
      driver: { name: 'strict', kind: 'protocol' },
      context,
      supports: { ...all, ...options.supports },
      path: 'strict-disk',
      ...(options.memory ? { memory: options.memory } : {}),
    });
    this.#options = options;
    this.#size = options.size;
    this.bytes = new Uint8Array(alignUp(options.size, options.limits?.requestAlignment ?? 1));
  }

  get size(): number {
    return this.#size;
  }

  protected override async _read(offset: number, into: IoData, flags: object): Promise<void> {
    await this.#seen('read', offset, byteLength(into), flags, into);
    copyFrom(into, this.bytes.subarray(offset, offset + byteLength(into)));
  }
  protected override async _write(offset: number, from: IoData, flags: object): Promise<void> {
    await this.#seen('write', offset, byteLength(from), flags, from);
    copyTo(from, this.bytes.subarray(offset, offset + byteLength(from)));
    this.bytes.fill(0, this.#size);
  }
  protected override async _writeZeroes(offset: number, length: number, flags: object): Promise<void> {
    await this.#seen('writeZeroes', offset, length, flags);
    this.bytes.fill(0, offset, offset + length);
  }
  protected override async _discard(offset: number, length: number, flags: object): Promise<void> {
    await this.#seen('discard', offset, length, flags);
  }
  protected override async _flush(flags: object): Promise<void> {
    await this.#seen('flush', 0, 0, flags);
  }
  protected override async _blockStatus(offset: number, length: number): Promise<Extent> {
    return { offset, length, data: true, zero: false, present: true, depth: 0, compressed: false };
  }
  protected override async _truncate(size: number, flags: object): Promise<void> {
    await this.#seen('truncate', 0, size, flags);
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes.subarray(0, Math.min(size, this.#size)));
    this.bytes = bytes;
    this.#size = size;
  }
  protected override _refreshLimits(limits: BlockLimits): void {
    Object.assign(limits, { minMemAlignment: 1 }, this.#options.limits);
  }
  protected override async _close(): Promise<void> {
    this.calls.push({ op: 'close', offset: 0, length: 0 });
  }

  async #seen(op: string, offset: number, length: number, flags: object, data?: IoData): Promise<void> {
    const { signal: _, ...rest } = flags as { signal?: AbortSignal };
    const call: Call = { op, offset, length, ...(Object.keys(rest).length > 0 ? { flags: rest } : {}) };
    this.calls.push(call);
    if (data) this.#check(offset, length, data);
    await this.#options.before?.(call);
  }

  #check(offset: number, length: number, data: IoData): void {
    const { requestAlignment, maxTransfer, maxIov, minMemAlignment } = this.limits;
    const bad = (what: string) => {
      throw new Error(`illegal request of ${length} at ${offset}: ${what}`);
    };
    if (length === 0) bad('empty');
    if (offset % requestAlignment || length % requestAlignment) bad('not aligned');
    if (maxTransfer && length > maxTransfer) bad('too long');
    if (offset + length > alignUp(this.size, requestAlignment)) bad('past the end');
    if (Array.isArray(data)) {
      if (data.length < 2) bad('a vector of less than two');
      if (data.length > maxIov) bad('too many buffers');
    }
    if (!this.memory.isAligned(data, minMemAlignment)) bad('memory not aligned');
  }
}

export function strict(): BlockDriver<StrictOptions> {
  const any = { type: 'any', help: 'for tests' } as const;
  return {
    name: 'strict',
    kind: 'protocol',
    help: 'checks every request that reaches it',
    options: { size: any, limits: any, supports: any, memory: any, before: any },
    open: async (options, context) => new StrictNode(options, context),
  };
}

/** Memory whose alignment is that of byteOffset: enough to tell aligned views from others. */
export const offsetMemory: Memory & { lent: number } = {
  lent: 0,
  allocate(length) {
    this.lent++;
    return new Uint8Array(length);
  },
  release() {
    this.lent--;
  },
  create: (length) => new Uint8Array(length),
  isAligned: (data, alignment) =>
    (Array.isArray(data) ? (data as readonly Uint8Array[]) : [data as Uint8Array]).every(
      (view) => view.byteOffset % alignment === 0 && view.byteLength % alignment === 0,
    ),
};
