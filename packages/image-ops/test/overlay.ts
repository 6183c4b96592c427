import {
  type BitmapInformation,
  type BitmapStore,
  type BlockDriver,
  BlockError,
  type BlockLimits,
  BlockNode,
  createRegistry,
  type Extent,
  type ImageFeatures,
  memory,
  type OpenContext,
  type TruncateOptions,
  type WriteOptions,
} from '@blockyard/core';
import { byteLength, copyFrom, flatten, type IoData, slice } from '@blockyard/iov-utils';

type Op =
  | 'read'
  | 'write'
  | 'writeZeroes'
  | 'flush'
  | 'blockStatus'
  | 'makeEmpty'
  | 'changeBacking'
  | 'truncate';

/** What an overlay image is made of: opened twice, both nodes show it. */
export interface Image {
  readonly id: number;
  size: number;
  readonly clusterSize: number;
  readonly clusters: Map<number, { bytes: Uint8Array; compressed: boolean } | 'zero'>;
  readonly file: BlockNode;
  recorded?: { name: string | undefined; format: string | undefined };
  readonly bitmaps: Map<string, BitmapInformation & { bits: Set<number> }>;
}

interface OverlayOptions {
  image: Image;
  file: BlockNode;
  backing?: BlockNode;
}

/** A format with clusters, a backing file and the features that operations ask for: it keeps its clusters in a map. */
export class OverlayNode extends BlockNode {
  readonly image: Image;
  readonly #backing: BlockNode | undefined;
  before: ((op: Op, offset: number, length: number) => unknown) | undefined;
  readonly writes: { offset: number; length: number; compressed: boolean }[] = [];
  readonly zeroes: { offset: number; length: number }[] = [];
  readonly reads: { offset: number; length: number }[] = [];
  flushes = 0;
  compressing = 0;
  mostCompressing = 0;

  constructor(options: OverlayOptions, context: OpenContext, backing: BlockNode | undefined) {
    const supports = {
      ...{ write: true, discard: true, writeZeroes: true, blockStatus: true, resize: true, fua: false },
      ...{ compress: true, copyRange: false },
    };
    const children = { file: options.file, ...(backing ? { backing } : {}) };
    super({ driver: { name: 'overlay', kind: 'format' }, context, supports, children });
    this.image = options.image;
    this.#backing = backing;
  }

  get size(): number {
    return this.image.size;
  }

  override get features(): ImageFeatures {
    const { image } = this;
    return {
      clusterSize: image.clusterSize,
      bitmaps: bitmapsOf(image),
      changeBacking: async (name, format) => {
        await this.before?.('changeBacking', 0, 0);
        image.recorded = { name, format };
      },
      makeEmpty: async () => {
        await this.before?.('makeEmpty', 0, 0);
        image.clusters.clear();
      },
    };
  }

  override describeOptions(): Record<string, unknown> {
    return { id: this.image.id };
  }

  protected override _refreshLimits(limits: BlockLimits): void {
    limits.pwriteZeroesAlignment = this.image.clusterSize;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    this.reads.push({ offset, length: byteLength(into) });
    await this.before?.('read', offset, byteLength(into));
    for (const { index, start, length, done } of this.#walk(offset, byteLength(into))) {
      const cluster = this.image.clusters.get(index);
      if (cluster && cluster !== 'zero') copyFrom(into, cluster.bytes.subarray(start, start + length), done);
      else if (cluster) copyFrom(into, new Uint8Array(length), done);
      else copyFrom(into, await this.#behind(offset + done, length), done);
    }
  }

  async #behind(offset: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    const have = Math.min(length, (this.#backing?.size ?? 0) - offset);
    if (have > 0) await this.#backing?.read(offset, bytes.subarray(0, have));
    return bytes;
  }

  protected override async _write(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    const { compressed = false } = options;
    this.writes.push({ offset, length: byteLength(from), compressed });
    if (compressed) this.mostCompressing = Math.max(this.mostCompressing, ++this.compressing);
    try {
      await this.before?.('write', offset, byteLength(from));
    } finally {
      if (compressed) this.compressing--;
    }
    const { clusters, clusterSize } = this.image;
    if (
      compressed &&
      (offset % clusterSize || (byteLength(from) % clusterSize && offset + byteLength(from) !== this.size))
    )
      throw new BlockError('ERR_INVALID_OPTION', 'compressed writes are of whole clusters');
    for (const { index, start, length, done } of this.#walk(offset, byteLength(from))) {
      const cluster = clusters.get(index);
      let bytes = cluster && cluster !== 'zero' ? cluster.bytes : new Uint8Array(clusterSize);
      if (!cluster && length < clusterSize)
        bytes = await this.#behind(
          index * clusterSize,
          Math.min(clusterSize, this.size - index * clusterSize),
        );
      if (bytes.byteLength < clusterSize) bytes = Buffer.concat([bytes], clusterSize);
      bytes.set(flatten(slice(from, done, done + length)), start);
      clusters.set(index, { bytes, compressed });
    }
  }

  protected override async _writeZeroes(offset: number, length: number): Promise<void> {
    this.zeroes.push({ offset, length });
    await this.before?.('writeZeroes', offset, length);
    for (const { index } of this.#walk(offset, length)) this.image.clusters.set(index, 'zero');
  }

  protected override async _flush(): Promise<void> {
    await this.before?.('flush', 0, 0);
    this.flushes++;
  }

  protected override async _blockStatus(offset: number, length: number): Promise<Extent> {
    await this.before?.('blockStatus', offset, length);
    const { clusters, clusterSize } = this.image;
    const index = Math.floor(offset / clusterSize);
    const count = Math.min(length, (index + 1) * clusterSize - offset);
    const cluster = clusters.get(index);
    const own = { offset, length: count, present: true, depth: 0, compressed: false };
    if (cluster === 'zero') return { ...own, data: false, zero: true };
    if (cluster) return { ...own, data: true, zero: false, compressed: cluster.compressed };
    const have = Math.min(count, (this.#backing?.size ?? 0) - offset);
    if (!this.#backing || have <= 0) return { ...own, data: false, zero: true, present: false };
    const below = await this.#backing.blockStatus(offset, have);
    return { ...below, depth: below.depth + 1 };
  }

  protected override async _truncate(size: number, _options: TruncateOptions): Promise<void> {
    await this.before?.('truncate', size, 0);
    const { clusters, clusterSize } = this.image;
    for (const index of [...clusters.keys()]) if (index * clusterSize >= size) clusters.delete(index);
    this.image.size = size;
  }

  *#walk(offset: number, length: number) {
    const { clusterSize } = this.image;
    for (let done = 0; done < length; ) {
      const index = Math.floor((offset + done) / clusterSize);
      const start = (offset + done) % clusterSize;
      const count = Math.min(clusterSize - start, length - done);
      yield { index, start, length: count, done };
      done += count;
    }
  }
}

function bitmapsOf({ bitmaps, size }: Image): BitmapStore {
  const get = (name: string) => {
    const found = bitmaps.get(name);
    if (!found) throw new BlockError('ERR_INVALID_OPTION', `no bitmap '${name}'`);
    return found;
  };
  return {
    list: async () => [...bitmaps.values()].map(({ bits: _bits, ...information }) => information),
    async add(name, { granularity = 65536, recording = true } = {}) {
      if (bitmaps.has(name)) throw new BlockError('ERR_INVALID_OPTION', `there is a bitmap '${name}'`);
      bitmaps.set(name, {
        name,
        granularity,
        recording,
        inconsistent: false,
        dirtyBytes: 0,
        bits: new Set(),
      });
    },
    remove: async (name) => void bitmaps.delete(name),
    clear: async (name) => get(name).bits.clear(),
    enable: async (name) => void bitmaps.set(name, { ...get(name), recording: true }),
    disable: async (name) => void bitmaps.set(name, { ...get(name), recording: false }),
    async merge(name, source, from) {
      const bits = from ? (from as OverlayNode).image.bitmaps.get(source)?.bits : get(source).bits;
      for (const bit of bits ?? []) get(name).bits.add(bit);
    },
    async nextDirty(name, offset) {
      const { bits, granularity } = get(name);
      for (let at = Math.floor(offset / granularity); at * granularity < size; at++)
        if (bits.has(at)) return { offset: at * granularity, length: granularity };
      return undefined;
    },
  };
}

const overlay: BlockDriver<OverlayOptions> = {
  name: 'overlay',
  kind: 'format',
  help: 'a test',
  options: {
    image: { type: 'any', help: 'what it is made of' },
    file: { type: 'node', required: true, help: 'below' },
    backing: { type: 'node', help: 'behind' },
  },
  async open(options, context) {
    const file = await context.openChild('file', options.file);
    const backing = options.backing && (await context.openChild('backing', options.backing));
    return new OverlayNode({ ...options, file }, context, backing);
  },
};

export const overlays = createRegistry([memory(), overlay] as BlockDriver[]);

let images = 0;

export async function newImage(size: number, clusterSize = 65536): Promise<Image> {
  const file = await overlays.openNode({ driver: 'memory', size: 0 });
  return { id: ++images, size, clusterSize, clusters: new Map(), file, bitmaps: new Map() };
}

export async function openImage(
  image: Image,
  backing?: BlockNode,
  options: { readOnly?: boolean } = {},
): Promise<OverlayNode> {
  const { file } = image;
  const node = {
    driver: 'overlay',
    image,
    file,
    discard: 'unmap',
    ...(backing ? { backing } : {}),
    ...options,
  };
  return (await overlays.openNode(node as never)) as OverlayNode;
}

/** Makes the k-th request to any of the nodes fail; tells how many there were. */
export function failAt(k: number, nodes: readonly OverlayNode[], ops?: readonly Op[]): { seen: number } {
  const count = { seen: 0 };
  for (const node of nodes) {
    node.before = async (op) => {
      if (ops && !ops.includes(op)) return;
      // A turn of the loop, so that requests are in flight together.
      await new Promise((resolve) => setImmediate(resolve));
      if (count.seen++ === k) throw Object.assign(new Error(`request ${k} broke`), { code: 'EIO' });
    };
  }
  return count;
}
