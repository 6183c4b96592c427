import type { BlockError, BlockNode, MaybePromise } from '@blockyard/core';
import { extensionType } from './extensions.ts';
import { corrupt } from './failure.ts';
import type { Qcow2Header } from './header.ts';
import type { L1Table } from './l1.ts';
import { type MetadataAreas, type OverlapCheck, refcountBlocks } from './metadata-areas.ts';
import type { MetadataCache } from './metadata-cache.ts';
import { l1Table, refcountTable, snapshotTable } from './tables.ts';
import { Allocator } from './write/allocator.ts';
import { Committer } from './write/committer.ts';
import { Generations } from './write/generations.ts';
import { withFlags } from './write/header-flags.ts';
import { writeHeader } from './write/header-writer.ts';
import { learnAreas } from './write/learn-areas.ts';
import { Lock } from './write/lock.ts';
import { Reclaimer, type Why } from './write/reclaimer.ts';
import { RefcountTable } from './write/refcount-table.ts';
import { Refcounts } from './write/refcounts.ts';
import { Room } from './write/room.ts';

export interface ImageInit {
  file: BlockNode;
  data: BlockNode;
  header: Qcow2Header;
  l1: L1Table;
  cache: MetadataCache;
  areas: MetadataAreas;
  /** The refcount table as it is in the file. */
  refcountTable: Uint8Array;
  overlapCheck: OverlapCheck;
  passes: Readonly<Record<Why, boolean>>;
}

/** What becomes of tables that a change replaced as a whole, when the header points to the new ones. */
export interface Reload {
  l1?: { offset: number; bytes: Uint8Array };
  refcountTable?: { offset: number; bytes: Uint8Array };
  /** Clusters from here on were not written while tables were replaced. */
  reached: number;
}

/** Who remembers what is in clusters of the file. */
export interface ClusterWatcher {
  /** The cluster is nobody's. */
  freed(cluster: number): void;
  /** Any cluster may be. */
  reloaded(): void;
}

/** The state of an image that is open for writing: its tables in memory, and how they come to the file. */
export class Image {
  readonly file: BlockNode;
  /** Where guest data is: the external data file, else `file`. */
  readonly data: BlockNode;
  readonly l1: L1Table;
  readonly cache: MetadataCache;
  readonly areas: MetadataAreas;
  readonly refcounts: Refcounts;
  readonly allocator: Allocator;
  readonly reclaimer: Reclaimer;
  readonly #room: Room;
  readonly #dataRoom: Room;
  readonly #overlapCheck: OverlapCheck;
  readonly #committer: Committer;
  readonly #generations = new Generations();
  readonly #exclusive = new Lock();
  #header: Qcow2Header;
  /** Changing the header failed, and nobody knows which one the file has. */
  #headerUnknown = false;
  #restoring: Promise<void> | undefined;
  /** While one runs alone: resolves when it has ended. */
  #closed: Promise<unknown> | undefined;
  #broken: BlockError | undefined;
  #marking: Promise<void> | undefined;
  readonly #watchers: ClusterWatcher[] = [];

  constructor(init: ImageInit) {
    const { file, data, header, l1, cache, areas } = init;
    this.file = file;
    this.data = data;
    this.l1 = l1;
    this.cache = cache;
    this.areas = areas;
    this.#header = header;
    this.#overlapCheck = init.overlapCheck;
    this.#room = new Room(file);
    this.#dataRoom = data === file ? this.#room : new Room(data, false);
    const table = new RefcountTable(header.refcountTableOffset, init.refcountTable);
    const refcounts = new Refcounts(file, header, table);
    this.refcounts = refcounts;
    const generations = this.#generations;
    this.allocator = new Allocator(refcounts, header.refcountBits, {
      writeTable: (what, offset, bytes) => this.writeTable(what, offset, bytes),
      switchRefcountTable: (offset, bytes) => this.#switchRefcountTable(offset, bytes),
      addBlock: (offset) => areas.addBlock(offset),
      freed: (cluster) => {
        for (const watcher of this.#watchers) watcher.freed(cluster);
      },
    });
    const { allocator } = this;
    this.reclaimer = new Reclaimer({ file, refcounts, allocator, generations, passes: init.passes });
    const { reclaimer } = this;
    const l1Offset = () => this.#header.l1TableOffset;
    const ready = () => this.ready();
    const reach = (end: number) => this.#room.reach(end);
    this.#committer = new Committer({
      ...{ file, data, l1, l1Offset, cache, refcounts, reclaimer, ready, reach },
    });
  }

  watch(watcher: ClusterWatcher): void {
    this.#watchers.push(watcher);
  }

  get header(): Qcow2Header {
    return this.#header;
  }

  /** Runs a request that changes the image. */
  change<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    // Who runs alone meanwhile may leave the image so that nothing may be changed.
    const wait = this.#closed ?? this.ready();
    return wait ? wait.then(() => this.change(work)) : this.request(work);
  }

  /** Runs a request that looks into the tables or moves bytes that they lead to. */
  request<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#closed) return this.#closed.then(() => this.request(work));
    const generation = this.#generations.enter();
    let result: MaybePromise<T>;
    try {
      result = work();
    } catch (error) {
      this.#generations.leave(generation);
      throw error;
    }
    if (!(result instanceof Promise)) {
      this.#generations.leave(generation);
      return result;
    }
    return result.then(
      (value) => {
        this.#generations.leave(generation);
        return value;
      },
      (error: unknown) => {
        this.#generations.leave(generation);
        throw error;
      },
    );
  }

  /** Waits for requests that are running, commits, and runs `work` alone: requests that come meanwhile wait. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(async () => {
      let open = () => {};
      this.#closed = new Promise<void>((resolve) => {
        open = resolve;
      });
      try {
        await this.#generations.passed();
        await this.settle();
        return await work();
      } finally {
        this.#closed = undefined;
        open();
      }
    });
  }

  /** Everything in memory goes to the file, and what was given up is free. */
  async settle(): Promise<void> {
    do {
      await this.commit();
      await this.reclaimer.settled();
    } while (this.#committer.dirty);
  }

  /** When it settles, all that was done before the call is durable. */
  commit(): MaybePromise<void> {
    const wait = this.ready();
    return wait ? wait.then(() => this.#committer.commit()) : this.#committer.commit();
  }

  /** Commits by itself when much waits for it; undefined when there is no need to wait. */
  relieve(): MaybePromise<void> {
    const clusters = this.reclaimer.waitingClusters;
    const full = this.cache.pressed || this.refcounts.cache.pressed;
    if (!full && clusters * this.#header.clusterSize < mostWaiting) return undefined;
    const work = this.commit();
    if (full) return work;
    // Nobody waits; who flushes is told of a failure.
    if (work instanceof Promise) work.catch(() => {});
  }

  /**
   * Changes the header: at every instant the old one or the new one is in the file. When that fails, nobody can say
   * which; then the old one is put back, and until that succeeds nothing is changed, so that both stay whole.
   */
  async updateHeader(change: Partial<Qcow2Header>): Promise<void> {
    await this.ready();
    await this.#changeHeader(change);
  }

  async #changeHeader(change: Partial<Qcow2Header>): Promise<void> {
    const next = { ...this.#header, ...change };
    try {
      await writeHeader(this.file, next);
    } catch (error) {
      this.#headerUnknown = true;
      // Who changes something next tries again.
      await this.#restoreHeader().catch(() => {});
      throw error;
    }
    this.#header = next;
  }

  /** The image can be changed, perhaps after a wait. @throws BlockError where it cannot */
  ready(): MaybePromise<void> {
    if (this.#broken) throw this.#broken;
    if (this.#headerUnknown) return this.#restoreHeader();
  }

  #restoreHeader(): Promise<void> {
    this.#restoring ??= writeHeader(this.file, this.#header)
      .then(() => {
        this.#headerUnknown = false;
      })
      .finally(() => {
        this.#restoring = undefined;
      });
    return this.#restoring;
  }

  /** Writes metadata to clusters that the caller was given. */
  async writeTable(what: string, offset: number, bytes: Uint8Array): Promise<void> {
    this.checkWrite(offset, bytes.length, what);
    await this.#room.reach(offset + bytes.length);
    await this.file.write(offset, bytes);
  }

  /** Makes the file that holds guest data long enough; undefined when it is. */
  reach(end: number): MaybePromise<void> {
    if (this.data.size >= end) return undefined;
    // A data file becomes as long as the disk, in one step: it may be the disk by itself.
    return this.#dataRoom.reach(this.data === this.file ? end : Math.max(end, this.#header.size));
  }

  /** Cuts off what is free at the end of the file. Everything is settled. */
  async cutBack(): Promise<void> {
    const end = await this.allocator.lastUsed();
    // What snapshots and bitmaps have is known by the refcounts alone; and those are wrong where a table is not counted.
    const { snapshotCount, extensions } = this.#header;
    const bitmaps = extensions.some(({ type }) => type === extensionType.bitmaps);
    if (snapshotCount > 0 || bitmaps || end < this.areas.end()) return;
    await this.#room.trim(end, true);
    // What is still there is not new when it is used again.
    if (this.file.size <= end) this.allocator.cutBack(end);
  }

  /** Brings everything to the file, whose end is then where it should be. Nothing more comes. */
  async close(): Promise<void> {
    try {
      await this.settle();
      await this.#room.trim(this.allocator.end);
    } finally {
      await this.#marking;
    }
  }

  /** @throws BlockError ERR_CORRUPT when a write there would hit metadata; nothing is written to the image afterwards. */
  checkWrite(offset: number, length: number, what = 'guest data'): void {
    const hit = this.areas.hit(this.#overlapCheck, offset, offset + length);
    if (hit === undefined) return;
    const text = `${what} (${length} bytes at ${offset}) would be written over ${hit}, and was not`;
    throw this.fail(corrupt(this.file, text, offset));
  }

  /**
   * What an entry gives up is counted down, and perhaps discarded and given to others: it must be guest data.
   * @throws BlockError ERR_CORRUPT; nothing is written to the image afterwards.
   */
  checkGivenUp(offset: number, clusters: number): void {
    const { clusterSize } = this.#header;
    const hit = this.areas.hit('all', offset, offset + clusters * clusterSize);
    if (hit === undefined && offset % clusterSize === 0) return;
    const wrong = hit === undefined ? 'which is not the start of a cluster' : `where ${hit} is`;
    throw this.fail(corrupt(this.file, `an L2 entry leads to ${offset}, ${wrong}`, offset));
  }

  /** Nothing is written any more, and the image is marked so that nobody writes it before it is repaired. */
  fail(reason: BlockError): BlockError {
    if (!this.#broken) {
      this.#broken = reason;
      // Where the mark cannot be made either, this error is what there is to tell.
      if (this.#header.version === 3)
        this.#marking = this.#committer.between(() => this.#markCorrupt()).catch(() => {});
    }
    return reason;
  }

  /** Finds out what the header's other tables lead to. */
  async learnAreas(): Promise<void> {
    await learnAreas(this, this.#overlapCheck === 'all');
  }

  /** Watches less rather than what is no longer there. */
  forgetAreas(): void {
    this.areas.setTable(snapshotTable(this.#header).what);
    this.areas.setSnapshots([], []);
  }

  /** Takes over tables that replaced others while requests waited: the header names them already. */
  reload({ l1, refcountTable: table, reached }: Reload): void {
    this.cache.clear();
    this.refcounts.cache.clear();
    if (l1) {
      this.l1.replace(l1.bytes);
      this.areas.forgetL2();
    }
    if (table) {
      this.refcounts.table.replace(table.offset, table.bytes);
      this.areas.setBlocks(refcountBlocks(table.bytes, this.#header.clusterSize));
    }
    for (const { what, ...place } of [
      l1Table(this.#header),
      refcountTable(this.#header),
      snapshotTable(this.#header),
    ])
      this.areas.setTable(what, place.length > 0 ? place : undefined);
    this.allocator.restart(reached);
    for (const watcher of this.#watchers) watcher.reloaded();
  }

  #switchRefcountTable(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#committer.between(async () => {
      await this.file.flush();
      await this.updateHeader({
        refcountTableOffset: offset,
        refcountTableClusters: bytes.length / this.#header.clusterSize,
      });
      this.refcounts.table.replace(offset, bytes);
      const { what, ...place } = refcountTable(this.#header);
      this.areas.setTable(what, place);
    });
  }

  async #markCorrupt(): Promise<void> {
    if (this.#headerUnknown) await this.#restoreHeader();
    if (!this.#header.corrupt) await this.#changeHeader(withFlags(this.#header, { corrupt: true }));
  }
}

/** Bytes of clusters that may wait for a commit before one is begun for them. */
const mostWaiting = 64 << 20;
