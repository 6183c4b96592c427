import {
  type BlockDriver,
  type BlockNode,
  createRegistry,
  type Extent,
  type Memory,
  memory,
  nullDriver,
  type OpenContext,
  PassThroughNode,
  type PassThroughOptions,
  type ReadOptions,
  type RequestOptions,
  type WriteOptions,
  type ZeroOptions,
} from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';

type Op = 'read' | 'write' | 'writeZeroes' | 'flush' | 'blockStatus';

/** What a test does to requests on their way. */
export interface Hooks {
  before?(op: Op, offset: number, length: number): unknown;
  status?(extent: Extent): Extent;
}

export interface Range {
  offset: number;
  length: number;
}

/** A filter that records requests, delays them, and makes them fail. */
export class HookedNode extends PassThroughNode {
  hooks: Hooks = {};
  readonly reads: Range[] = [];
  readonly writes: Range[] = [];
  readonly zeroes: Range[] = [];
  inFlight = 0;
  mostInFlight = 0;
  bytesInFlight = 0;
  mostBytesInFlight = 0;

  constructor(file: BlockNode, context: OpenContext) {
    super(file, context, 'hooked');
  }

  async #run(op: Op, offset: number, length: number, work: () => unknown): Promise<void> {
    this.inFlight++;
    this.bytesInFlight += length;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    this.mostBytesInFlight = Math.max(this.mostBytesInFlight, this.bytesInFlight);
    try {
      await this.hooks.before?.(op, offset, length);
      await work();
    } finally {
      this.inFlight--;
      this.bytesInFlight -= length;
    }
  }

  protected override _read(offset: number, into: IoData, options: ReadOptions): Promise<void> {
    this.reads.push({ offset, length: byteLength(into) });
    return this.#run('read', offset, byteLength(into), () => this.file.read(offset, into, options));
  }
  protected override _write(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    this.writes.push({ offset, length: byteLength(from) });
    return this.#run('write', offset, byteLength(from), () => this.file.write(offset, from, options));
  }
  protected override _writeZeroes(offset: number, length: number, options: ZeroOptions): Promise<void> {
    this.zeroes.push({ offset, length });
    return this.#run('writeZeroes', offset, 0, () => this.file.writeZeroes(offset, length, options));
  }
  protected override _flush(options: RequestOptions): Promise<void> {
    return this.#run('flush', 0, 0, () => this.file.flush(options));
  }
  protected override async _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): Promise<Extent> {
    await this.hooks.before?.('blockStatus', offset, length);
    const extent = await this.file.blockStatus(offset, length, options);
    return this.hooks.status?.(extent) ?? extent;
  }
}

const hooked: BlockDriver<PassThroughOptions> = {
  name: 'hooked',
  kind: 'filter',
  help: 'a test',
  options: { file: { type: 'node', required: true, help: 'below' } },
  open: async (options, context) => new HookedNode(await context.openChild('file', options.file), context),
};

export const registry = createRegistry([memory(), nullDriver(), hooked] as BlockDriver[]);

export const MiB = 1 << 20;

/** An empty disk below a filter that watches. */
export async function openHooked(size: number, hooks: Hooks = {}): Promise<HookedNode> {
  const options = {
    driver: 'hooked',
    discard: 'unmap',
    file: { driver: 'memory', size, discard: 'unmap' },
  } as const;
  const node = (await registry.openNode(options)) as HookedNode;
  node.hooks = hooks;
  return node;
}

/** A disk with pseudo-random data at the places given. */
export async function openFilled(
  size: number,
  data: readonly Range[],
  hooks: Hooks = {},
): Promise<HookedNode> {
  const node = await openHooked(size);
  for (const { offset, length } of data) await node.write(offset, noise(length, offset + 1));
  node.writes.length = 0;
  node.hooks = hooks;
  return node;
}

/** The same bytes for the same seed; none is zero. */
export function noise(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = (state >>> 24) | 1;
  }
  return bytes;
}

export async function contents(node: BlockNode): Promise<Uint8Array> {
  const bytes = new Uint8Array(node.size);
  await node.read(0, bytes);
  return bytes;
}

/** Memory that knows what it has lent. */
export function countingMemory(): Memory & { lent: number; most: number } {
  const sizes = new Map<Uint8Array, number>();
  const counting = {
    lent: 0,
    most: 0,
    allocate(length: number) {
      const view = new Uint8Array(length);
      sizes.set(view, length);
      counting.lent += length;
      counting.most = Math.max(counting.most, counting.lent);
      return view;
    },
    release(view: Uint8Array) {
      const length = sizes.get(view);
      if (length === undefined) throw new Error('released what was not lent');
      sizes.delete(view);
      counting.lent -= length;
    },
    create: (length: number) => new Uint8Array(length),
    isAligned: () => true,
  };
  return counting;
}

/** Not `toEqual`, which looks at millions of bytes one by one. */
export async function expectSame(a: BlockNode, b: BlockNode): Promise<void> {
  const [one, two] = [await contents(a), await contents(b)];
  if (Buffer.compare(one, two) === 0) return;
  const at = one.findIndex((byte, index) => byte !== two[index]);
  throw new Error(
    `the disks differ at byte ${at}: ${one[at]} and ${two[at]} (sizes ${one.length}, ${two.length})`,
  );
}
