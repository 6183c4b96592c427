import type { BlockNode } from './block-node.ts';
import type { SnapshotInformation } from './driver.ts';
import type { RequestOptions } from './request/options.ts';

/** What a format can do with an open image besides moving its bytes. A member that is missing cannot be done. */
export interface ImageFeatures {
  /** Bytes of the unit in which storage is assigned; compressed writes consist of whole ones. */
  readonly clusterSize?: number | undefined;
  /** Bytes of the parts that have states of their own, where clusters have such parts. */
  readonly subclusterSize?: number | undefined;
  readonly snapshots?: SnapshotStore | undefined;
  readonly bitmaps?: BitmapStore | undefined;
  /** Records another backing file, or none, in the image. The bytes that it shows are the caller's concern. */
  changeBacking?(name: string | undefined, format: string | undefined): Promise<void>;
  /**
   * Gives up all data of this layer: everything shows what is behind it. Snapshots stay as they are. It is for data that
   * is behind already, as after a commit: dirty bitmaps do not record it.
   */
  makeEmpty?(options?: RequestOptions): Promise<void>;
}

/** Internal snapshots of an open image. An argument that is one snapshot's id and another's name means the id. */
export interface SnapshotStore {
  list(): Promise<readonly SnapshotInformation[]>;
  /** Names need not be unique; ids are, and are given out by the image. */
  create(name: string, options?: SnapshotCreation): Promise<SnapshotInformation>;
  /** The disk becomes what it was: its content and its size. What it was before is lost. */
  apply(idOrName: string, options?: RequestOptions): Promise<void>;
  delete(idOrName: string, options?: RequestOptions): Promise<void>;
}

export interface SnapshotCreation extends RequestOptions {
  /** When it was taken (default now). */
  date?: Date | undefined;
}

export interface BitmapInformation {
  readonly name: string;
  /** Bytes of the disk that one bit stands for. */
  readonly granularity: number;
  /** Writes are recorded in it. */
  readonly recording: boolean;
  /** It was in use when a program ended unexpectedly: it says nothing, and can only be removed. */
  readonly inconsistent: boolean;
  /** Bytes of the disk that it marks, counted in its granularity; 0 when it is inconsistent. */
  readonly dirtyBytes: number;
}

/** Dirty bitmaps that are kept in the image: which parts of the disk were written since they were cleared. */
export interface BitmapStore {
  list(): Promise<readonly BitmapInformation[]>;
  /** @throws BlockError ERR_INVALID_OPTION for a name that is taken or a granularity that is no power of two from 512 to 2 GiB. */
  add(
    name: string,
    options?: { granularity?: number | undefined; recording?: boolean | undefined },
  ): Promise<void>;
  remove(name: string): Promise<void>;
  clear(name: string): Promise<void>;
  enable(name: string): Promise<void>;
  disable(name: string): Promise<void>;
  /** Adds to bitmap `name` what the bitmap `source` of this or another image marks. */
  merge(name: string, source: string, from?: BlockNode): Promise<void>;
  /** The first marked range at or after `offset`; undefined when there is none. Ranges end at the size of the disk. */
  nextDirty(name: string, offset: number): Promise<{ offset: number; length: number } | undefined>;
}

/** What a check of an image found: the numbers and names of `qemu-img check --output=json`. */
export interface CheckResult {
  /** Errors that make data wrong or will: they are left, or were found and not asked to be repaired. */
  corruptions: number;
  /** Clusters that nothing refers to and that cannot be used again. */
  leaks: number;
  corruptionsFixed: number;
  leaksFixed: number;
  /** What could not be checked. */
  checkErrors: number;
  /** Byte after the last cluster that is in use. */
  imageEndOffset: number;
  totalClusters: number;
  allocatedClusters: number;
  fragmentedClusters: number;
  compressedClusters: number;
  /** One sentence each, the first thousand. */
  findings: readonly string[];
}

export interface CheckOptions extends RequestOptions {
  /** Repair leaks only, or everything that can be. Needs a writable file. */
  repair?: 'leaks' | 'all' | undefined;
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
}
