import { Encoder } from './encode.ts';
import { encodeHeader, type HeaderOptions } from './image-header.ts';
import { packRefcounts } from './refcounts.ts';

const copied = 1n << 63n;
const compressedFlag = 1n << 62n;
const offsetMask = 0x00fffffffffffe00n;

/** An L2 table: entries as they will be stored, but for the copied flag. `bitmaps` with extended entries. */
interface L2 {
  offset: number;
  entries: BigUint64Array;
  bitmaps: BigUint64Array;
  /** Entries that are stored just as they were given. */
  raw: Set<number>;
  shared: boolean;
}

interface MadeSnapshot {
  id: string;
  name: string;
  diskSize: number;
  extraBytes: number;
  l1Offset: number;
  l1Size: number;
  tables: Map<number, L2>;
}

/**
 * Makes qcow2 images in memory, valid ones (`qemu-img check` finds no fault) and, through `entry`, `l1Entry`, `put`
 * and `patched`, any other. Clusters are given out one after another; cluster 0 is the header.
 */
export class ImageBuilder {
  readonly options: HeaderOptions;
  readonly clusterSize: number;
  readonly size: number;
  readonly l1Size: number;
  l1Offset = 0;
  snapshotsOffset = 0;
  refcountTableOffset = 0;
  bitmapDirectoryOffset = 0;
  readonly #entryBytes: number;
  readonly #perTable: number;
  readonly #parts = new Map<number, Uint8Array>();
  #tables = new Map<number, L2>();
  readonly #l1Raw = new Map<number, bigint>();
  readonly #snapshots: MadeSnapshot[] = [];
  readonly #bitmaps: {
    name: string;
    granularityBits: number;
    flags: number;
    tableOffset: number;
    tableSize: number;
  }[] = [];
  /** Clusters of guest data and tables that are referred to by none of the L2 tables. */
  readonly #own: [number, number][] = [];
  #end: number;
  #packed = 0;

  constructor(options: HeaderOptions = {}) {
    this.options = options;
    this.size = options.size ?? 1 << 20;
    this.clusterSize = 2 ** (options.clusterBits ?? 16);
    this.#entryBytes = options.extendedL2 ? 16 : 8;
    this.#perTable = this.clusterSize / this.#entryBytes;
    this.l1Size = Math.ceil(this.size / (this.#perTable * this.clusterSize));
    this.#end = this.clusterSize;
    this.l1Offset = this.#table(Math.max(1, this.l1Size * 8));
  }

  /** Gives out clusters that no L2 entry refers to. */
  allocate(clusters = 1): number {
    const at = this.#end;
    this.#end += clusters * this.clusterSize;
    return at;
  }

  #table(bytes: number): number {
    const clusters = Math.ceil(bytes / this.clusterSize);
    const at = this.allocate(clusters);
    this.#own.push([at, clusters]);
    return at;
  }

  put(offset: number, bytes: Uint8Array): this {
    this.#parts.set(offset, bytes);
    return this;
  }

  /** Stores data for whole clusters from `offset` of the disk; the last may be short. Returns where it is. */
  data(offset: number, bytes: Uint8Array): number {
    const clusters = Math.ceil(bytes.length / this.clusterSize);
    const at = this.allocate(clusters);
    this.put(at, bytes);
    for (let i = 0; i < clusters; i++)
      this.#set(offset + i * this.clusterSize, BigInt(at + i * this.clusterSize), 0xffffffffn);
    return at;
  }

  /** Entries that refer to an external data file. */
  external(offset: number, clusters: number, at = offset): this {
    for (let i = 0; i < clusters; i++) {
      this.#set(offset + i * this.clusterSize, BigInt(at + i * this.clusterSize) | copied, 0xffffffffn);
    }
    return this;
  }

  zero(offset: number, clusters = 1): this {
    for (let i = 0; i < clusters; i++) {
      const extended = this.options.extendedL2;
      this.#set(offset + i * this.clusterSize, extended ? 0n : 1n, extended ? 0xffffffff00000000n : 0n);
    }
    return this;
  }

  zeroPlaced(offset: number): number {
    const at = this.allocate();
    this.put(at, new Uint8Array(this.clusterSize).fill(0xee));
    const extended = this.options.extendedL2;
    this.#set(offset, BigInt(at) | (extended ? 0n : 1n), extended ? 0xffffffff00000000n : 0n);
    return at;
  }

  /** Extended L2: a cluster with bits of its own. */
  subclusters(offset: number, bytes: Uint8Array | undefined, allocated: number, zeroes: number): number {
    const at = bytes ? this.allocate() : 0;
    if (bytes) this.put(at, bytes);
    this.#set(offset, BigInt(at), (BigInt(zeroes >>> 0) << 32n) | BigInt(allocated >>> 0));
    return at;
  }

  /** Stores compressed data right after the last of it, or at `at`. `sectors` overrides the count of further sectors. */
  compressed(
    offset: number,
    stored: Uint8Array,
    { at, sectors }: { at?: number; sectors?: number } = {},
  ): number {
    let place = at ?? this.#packed;
    if (
      at === undefined &&
      (place === 0 || Math.ceil(place / this.clusterSize) * this.clusterSize !== this.#end)
    ) {
      place = this.allocate();
    }
    this.#packed = place + stored.length;
    while (this.#end < this.#packed) this.allocate();
    this.put(place, stored);
    const further = sectors ?? Math.floor((place + stored.length - 1) / 512) - Math.floor(place / 512);
    const shift = BigInt(62 - ((this.options.clusterBits ?? 16) - 8));
    this.#set(offset, compressedFlag | (BigInt(further) << shift) | BigInt(place), 0n);
    return place;
  }

  /** Any L2 entry, stored as it is given. */
  entry(offset: number, value: bigint, bitmap = 0n): this {
    this.#set(offset, value, bitmap);
    const [table, index] = this.#locate(offset);
    table.raw.add(index);
    return this;
  }

  /** Any L1 entry, stored as it is given. */
  l1Entry(index: number, value: bigint): this {
    this.#l1Raw.set(index, value);
    return this;
  }

  /** Where the L2 table for `offset` is; it is made when there is none. */
  l2Offset(offset: number): number {
    return this.#locate(offset)[0].offset;
  }

  snapshot(id: string, name: string, options: { diskSize?: number; extraBytes?: number } = {}): this {
    for (const table of this.#tables.values()) table.shared = true;
    const l1Offset = this.#table(Math.max(1, this.l1Size * 8));
    const { diskSize = this.size, extraBytes = 24 } = options;
    this.#snapshots.push({
      id,
      name,
      diskSize,
      extraBytes,
      l1Offset,
      l1Size: this.l1Size,
      tables: new Map(this.#tables),
    });
    return this;
  }

  /** An empty persistent bitmap. */
  bitmap(name: string, granularityBits = 16, flags = 2): this {
    const tableSize = Math.max(1, Math.ceil(this.size / 2 ** granularityBits / 8 / this.clusterSize));
    this.#bitmaps.push({ name, granularityBits, flags, tableOffset: this.#table(tableSize * 8), tableSize });
    return this;
  }

  build(): Uint8Array {
    this.#putSnapshots();
    const extensions = this.#putBitmaps();
    this.#putRefcounts();
    for (const snapshot of this.#snapshots)
      this.put(snapshot.l1Offset, this.#encodeL1(snapshot.tables, new Map()));
    this.put(this.l1Offset, this.#encodeL1(this.#tables, this.#l1Raw));
    const autoclear = (this.options.autoclear ?? 0n) | (extensions.length > 0 ? 1n : 0n);
    const header = encodeHeader(
      { ...this.options, size: this.size, autoclear },
      {
        l1Size: this.l1Size,
        l1Offset: this.l1Offset,
        refcountTableOffset: this.refcountTableOffset,
        refcountTableClusters: this.#refcountTableClusters,
        snapshotCount: this.#snapshots.length,
        snapshotsOffset: this.snapshotsOffset,
        extensions,
      },
    );
    this.put(0, header);
    let end = 0;
    for (const [offset, bytes] of this.#parts) end = Math.max(end, offset + bytes.length);
    const image = new Uint8Array(end);
    for (const [offset, bytes] of this.#parts) image.set(bytes, offset);
    return image;
  }

  #set(offset: number, value: bigint, bitmap: bigint): void {
    const [table, index] = this.#locate(offset);
    table.entries[index] = value;
    table.bitmaps[index] = this.options.extendedL2 ? bitmap : 0n;
  }

  #locate(offset: number): [L2, number] {
    const cluster = Math.floor(offset / this.clusterSize);
    const l1Index = Math.floor(cluster / this.#perTable);
    let table = this.#tables.get(l1Index);
    if (!table || table.shared) {
      table = {
        offset: this.allocate(),
        entries: table ? table.entries.slice() : new BigUint64Array(this.#perTable),
        bitmaps: table ? table.bitmaps.slice() : new BigUint64Array(this.#perTable),
        raw: new Set(table?.raw),
        shared: false,
      };
      this.#tables.set(l1Index, table);
    }
    return [table, cluster % this.#perTable];
  }

  #refcountTableClusters = 1;

  /** Counts every use of every cluster, and then the refcount structures themselves. */
  #putRefcounts(): void {
    const counts = new Map<number, number>();
    const use = (offset: number, bytes = 1) => {
      const last = Math.floor((offset + bytes - 1) / this.clusterSize);
      for (let at = Math.floor(offset / this.clusterSize); at <= last; at++)
        counts.set(at, (counts.get(at) ?? 0) + 1);
    };
    use(0);
    for (const [at, clusters] of this.#own) use(at, clusters * this.clusterSize);
    for (const view of [this.#tables, ...this.#snapshots.map((one) => one.tables)]) {
      for (const table of view.values()) {
        use(table.offset);
        for (const [i, entry] of table.entries.entries()) if (!table.raw.has(i)) this.#useEntry(entry, use);
      }
    }
    const bits = 2 ** (this.options.refcountOrder ?? 4);
    const perBlock = (this.clusterSize * 8) / bits;
    this.refcountTableOffset = this.allocate();
    use(this.refcountTableOffset);
    const blocks: number[] = [];
    for (let first = 0; first * this.clusterSize < this.#end; first += perBlock) {
      const at = this.allocate();
      blocks.push(at);
      use(at);
    }
    const table = new Encoder();
    for (const [i, at] of blocks.entries()) {
      table.u64(at);
      this.put(at, packRefcounts(counts, i * perBlock, perBlock, bits));
    }
    this.put(this.refcountTableOffset, table.pad(this.clusterSize).done());
    const tables = new Set(
      [this.#tables, ...this.#snapshots.map((one) => one.tables)].flatMap((view) => [...view.values()]),
    );
    for (const l2 of tables) this.put(l2.offset, this.#encodeL2(l2, counts));
    this.#counts = counts;
  }

  #counts: ReadonlyMap<number, number> = new Map();

  #useEntry(entry: bigint, use: (offset: number, bytes?: number) => void): void {
    if (this.options.dataFile !== undefined) return;
    if (entry & compressedFlag) {
      const shift = BigInt(62 - ((this.options.clusterBits ?? 16) - 8));
      const at = Number(entry & ((1n << shift) - 1n));
      const sectors = Number((entry & (compressedFlag - 1n)) >> shift) + 1;
      use(at, sectors * 512 - (at % 512));
    } else if (entry & offsetMask) use(Number(entry & offsetMask));
  }

  #isSole(offset: bigint, counts: ReadonlyMap<number, number>): boolean {
    return counts.get(Number(offset) / this.clusterSize) === 1;
  }

  #encodeL2(table: L2, counts: ReadonlyMap<number, number>): Uint8Array {
    const encoder = new Encoder();
    for (const [i, entry] of table.entries.entries()) {
      const plain = !table.raw.has(i) && !(entry & compressedFlag) && (entry & offsetMask) !== 0n;
      encoder.u64(plain && this.#isSole(entry & offsetMask, counts) ? entry | copied : entry);
      if (this.options.extendedL2) encoder.u64(table.bitmaps[i] as bigint);
    }
    return encoder.done();
  }

  #encodeL1(tables: ReadonlyMap<number, L2>, raw: ReadonlyMap<number, bigint>): Uint8Array {
    const encoder = new Encoder();
    for (let i = 0; i < this.l1Size; i++) {
      const offset = BigInt(tables.get(i)?.offset ?? 0);
      encoder.u64(raw.get(i) ?? (offset && this.#isSole(offset, this.#counts) ? offset | copied : offset));
    }
    return encoder.done();
  }

  #putSnapshots(): void {
    if (this.#snapshots.length === 0) return;
    const table = new Encoder();
    const utf8 = new TextEncoder();
    for (const [i, snapshot] of this.#snapshots.entries()) {
      const id = utf8.encode(snapshot.id);
      const name = utf8.encode(snapshot.name);
      table.u64(snapshot.l1Offset).u32(snapshot.l1Size).u16(id.length).u16(name.length);
      table
        .u32(1_700_000_000 + i)
        .u32(i)
        .u64(0)
        .u32(0)
        .u32(snapshot.extraBytes);
      const extra = new Encoder()
        .u64(0)
        .u64(snapshot.diskSize)
        .u64(2n ** 64n - 1n)
        .done();
      table.bytes(extra.subarray(0, snapshot.extraBytes)).bytes(id).bytes(name).pad(8);
    }
    const bytes = table.done();
    this.snapshotsOffset = this.#table(bytes.length);
    this.put(this.snapshotsOffset, bytes);
  }

  #putBitmaps(): { type: number; data: Uint8Array }[] {
    if (this.#bitmaps.length === 0) return [];
    const directory = new Encoder();
    for (const { name, granularityBits, flags, tableOffset, tableSize } of this.#bitmaps) {
      const bytes = new TextEncoder().encode(name);
      directory
        .u64(tableOffset)
        .u32(tableSize)
        .u32(flags)
        .u8(1)
        .u8(granularityBits)
        .u16(bytes.length)
        .u32(0)
        .bytes(bytes)
        .pad(8);
      this.put(tableOffset, new Uint8Array(tableSize * 8));
    }
    const bytes = directory.done();
    this.bitmapDirectoryOffset = this.#table(bytes.length);
    this.put(this.bitmapDirectoryOffset, bytes);
    const data = new Encoder()
      .u32(this.#bitmaps.length)
      .u32(0)
      .u64(bytes.length)
      .u64(this.bitmapDirectoryOffset)
      .done();
    return [{ type: 0x23852875, data }];
  }
}
