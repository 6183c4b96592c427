import type { BlockNode } from '@blockyard/core';
import type { Bitmap } from '../bitmaps.ts';
import { loadBits, type StoredBitmap } from './bitmap-data.ts';
import { entryBytes } from './bitmap-directory.ts';
import { DirtyBits } from './dirty-bits.ts';

/** A bitmap in memory, and what is stored of it. */
export class TrackedBitmap {
  readonly bits: DirtyBits;
  recording: boolean;
  /** Undefined when it was never stored. */
  stored: StoredBitmap | undefined;
  /** Byte of the file where its entry of the directory is, when it was stored. */
  entryOffset = 0;
  /** What is stored says that it is in use. */
  marked: boolean;
  readonly #bitmap: Bitmap;
  #storedRecording: boolean;
  #loading: Promise<void> | undefined;

  /** As the directory has it, with so many bits. */
  constructor(bitmap: Bitmap, bits: number) {
    const { tableOffset, tableSize } = bitmap;
    this.#bitmap = bitmap;
    this.bits = new DirtyBits(bits);
    this.recording = this.#storedRecording = bitmap.auto;
    this.stored = { tableOffset, tableSize };
    this.marked = bitmap.inUse;
  }

  /** A new one, with all bits clear. */
  static create(
    name: string,
    nameBytes: Uint8Array,
    granularity: number,
    recording: boolean,
    bits: number,
  ): TrackedBitmap {
    const nothing = { inUse: false, extraDataCompatible: false, extraData: new Uint8Array(0) };
    const bitmap = {
      name,
      nameBytes,
      granularity,
      auto: recording,
      tableOffset: 0,
      tableSize: 0,
      ...nothing,
    };
    const made = new TrackedBitmap(bitmap, bits);
    made.stored = undefined;
    made.#loading = Promise.resolve();
    return made;
  }

  get name(): string {
    return this.#bitmap.name;
  }

  /** Bytes of the disk that one bit stands for. */
  get granularity(): number {
    return this.#bitmap.granularity;
  }

  /** When it was last in use, it was not stored. */
  get inconsistent(): boolean {
    return this.#bitmap.inUse;
  }

  /** Why nothing can be done with it but to remove it. */
  get whyUnusable(): string | undefined {
    if (this.inconsistent)
      return 'was in use when a program ended unexpectedly, and tells nothing; it can only be removed';
    if (this.#bitmap.extraData.length > 0 && !this.#bitmap.extraDataCompatible)
      return 'has data of another program, without which it must not be used; it can only be removed';
    return undefined;
  }

  /** Writes that are not in what is stored make that untrue. */
  get outdatedByWrites(): boolean {
    return this.stored !== undefined && (this.recording || this.#storedRecording);
  }

  /** What the directory is to say of it. */
  entry(inUse: boolean, stored: StoredBitmap | undefined = this.stored): Bitmap {
    return { ...this.#bitmap, ...stored, inUse, auto: this.recording };
  }

  get entryBytes(): number {
    return entryBytes(this.#bitmap);
  }

  /** Once: what was noted before stays. */
  async load(file: BlockNode, clusterSize: number): Promise<void> {
    this.#loading ??= loadBits(file, clusterSize, this.name, this.stored as StoredBitmap, this.bits).catch(
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    await this.#loading;
  }

  wasStored(stored: StoredBitmap): void {
    this.stored = stored;
    this.#storedRecording = this.recording;
    this.marked = this.inconsistent;
    this.bits.changed = false;
  }

  /** Sets what these bytes of the disk touch. */
  note(offset: number, length: number): void {
    const { granularity, bits } = this;
    const first = Math.floor(offset / granularity);
    // A request may go beyond the end of the disk, to the end of a block.
    const last = Math.min(Math.floor((offset + length - 1) / granularity), bits.length - 1);
    if (first <= last) bits.set(first, last);
  }

  /** The first set range at or after `offset` of a disk of `size` bytes. */
  next(offset: number, size: number): { offset: number; length: number } | undefined {
    const { granularity, bits } = this;
    const first = bits.find(Math.floor(offset / granularity), true);
    if (first >= bits.length) return undefined;
    const start = Math.max(offset, first * granularity);
    const end = Math.min(bits.find(first, false) * granularity, size);
    return start < end ? { offset: start, length: end - start } : undefined;
  }
}
