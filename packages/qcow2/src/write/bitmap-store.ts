import {
  type BitmapInformation,
  type BitmapStore,
  BlockError,
  type BlockNode,
  type MaybePromise,
} from '@blockyard/core';
import { type BitmapDirectory, bitmapDirectory, mostBitmaps, readBitmaps } from '../bitmaps.ts';
import { badOption, corrupt, notPossible } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';
import type { Image } from '../image.ts';
import { bitCount, checkBits, checkNew, checkSize, defaultGranularity } from './bitmap-limits.ts';
import { markInUse } from './bitmap-marks.ts';
import { directoryName, storeBitmaps } from './bitmap-storing.ts';
import { TrackedBitmap } from './tracked-bitmap.ts';
import { Transition } from './transition.ts';

/**
 * The dirty bitmaps of an image. They change in memory, and are stored when the image is closed. Before anything that
 * would make what is stored untrue, that is marked as in use: after a crash it tells nothing then.
 */
export class Bitmaps implements BitmapStore {
  readonly #file: BlockNode;
  readonly #header: Qcow2Header;
  readonly #image: Image | undefined;
  #reading: Promise<void> | undefined;
  #directory: BitmapDirectory | undefined;
  #bitmaps: TrackedBitmap[] = [];
  /** Those that a change of guest data is noted in. */
  #recording: TrackedBitmap[] = [];
  /** They are in the file still. */
  #removed: TrackedBitmap[] = [];
  /** Names or flags differ from what is stored. */
  #changed = false;
  /** Guest data may be being written. */
  #begun = false;
  #beginning: Promise<void> | undefined;

  /** Of the image as it was opened; with `image` where that is for writing. */
  constructor(file: BlockNode, header: Qcow2Header, image: Image | undefined) {
    this.#file = file;
    this.#header = header;
    this.#image = image;
  }

  /** Reads the directory, which is needed before anything is written. An image that is only read may do without. */
  async open(): Promise<void> {
    this.#reading ??= this.#read().catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
    await this.#reading;
  }

  /** Changes of guest data need not go through `track` just now. */
  get quiet(): boolean {
    return this.#begun && this.#recording.length === 0;
  }

  /**
   * Does `work`, which changes guest data in these bytes. What it makes untrue is marked before; what records is told
   * after, even of a failure: so who clears a bitmap and then reads the data misses nothing.
   */
  track(offset: number, length: number, work: () => MaybePromise<void>): MaybePromise<void> {
    const ready = this.beforeFirstWrite();
    if (ready) return ready.then(() => this.track(offset, length, work));
    let working: MaybePromise<void>;
    try {
      working = work();
    } catch (error) {
      this.noteWrite(offset, length);
      throw error;
    }
    if (working instanceof Promise) return working.finally(() => this.noteWrite(offset, length));
    this.noteWrite(offset, length);
  }

  /** There is something to wait for only before the first change of guest data. */
  beforeFirstWrite(): MaybePromise<void> {
    if (this.#begun) return undefined;
    if (this.#bitmaps.length === 0 && this.#removed.length === 0) {
      this.#begun = true;
      return undefined;
    }
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  /** These bytes were changed. */
  noteWrite(offset: number, length: number): void {
    const recording = this.#recording;
    for (let i = 0; i < recording.length; i++) (recording[i] as TrackedBitmap).note(offset, length);
  }

  /**
   * Does `work`, which gives the disk another size. Bits of what is new are clear, as QEMU has it.
   * @throws BlockError ERR_NOT_SUPPORTED for bitmaps that do not allow it, and what reading them says
   */
  async whileResizing(size: number, work: () => Promise<void>): Promise<void> {
    await this.#change(async () => {
      for (const bitmap of this.#bitmaps) {
        this.#assertUsable(bitmap);
        checkSize(this.#file, size, bitmap.granularity);
      }
      for (const bitmap of this.#bitmaps) await this.#load(bitmap);
      await markInUse(this.#file, [...this.#bitmaps, ...this.#removed]);
    });
    // The first write to what is new is noted too.
    if (size > this.#size) this.#resize(size);
    try {
      await work();
    } finally {
      this.#resize(this.#size);
    }
  }

  /** Everything comes to the file, at once. To be called when the image is closed, and for who looks at it there. */
  async store(): Promise<void> {
    const image = this.#image;
    const changed = this.#changed || this.#bitmaps.some(({ bits }) => bits.changed);
    const marked = this.#bitmaps.some((bitmap) => bitmap.marked && !bitmap.inconsistent);
    if (!image || !(changed || marked)) return;
    await Transition.run(image, {}, async (transition) => {
      for (const bitmap of this.#bitmaps) if (bitmap.bits.changed) await this.#load(bitmap);
      this.#settle(await storeBitmaps(transition, this.#bitmaps, this.#removed, this.#directory));
      this.#removed = [];
      this.#changed = this.#begun = false;
    });
  }

  async list(): Promise<readonly BitmapInformation[]> {
    await this.open();
    const found: BitmapInformation[] = [];
    for (const bitmap of this.#bitmaps) {
      const { name, granularity, recording, inconsistent, bits } = bitmap;
      const usable = bitmap.whyUnusable === undefined;
      if (usable) await this.#load(bitmap);
      const dirtyBytes = usable ? bits.count() * granularity : 0;
      found.push({ name, granularity, recording, inconsistent, dirtyBytes });
    }
    return found;
  }

  async add(
    name: string,
    options: { granularity?: number | undefined; recording?: boolean | undefined } = {},
  ): Promise<void> {
    await this.#change(({ header }) => this.#add(name, header, options));
  }

  async remove(name: string): Promise<void> {
    await this.#change(async () => {
      const bitmap = await this.#find(name);
      this.#bitmaps = this.#bitmaps.filter((one) => one !== bitmap);
      if (bitmap.stored) this.#removed.push(bitmap);
      this.#select();
      this.#changed = true;
    });
  }

  async clear(name: string): Promise<void> {
    await this.#change(async () => (await this.#loaded(name)).bits.clear());
  }

  async enable(name: string): Promise<void> {
    await this.#change(async () => {
      const bitmap = await this.#loaded(name);
      await this.#beginning?.catch(() => {});
      // Writes go on, and what is stored does not know of them.
      if (this.#begun) await markInUse(this.#file, [bitmap]);
      this.#record(bitmap, true);
    });
  }

  async disable(name: string): Promise<void> {
    await this.#change(async () => this.#record(await this.#loaded(name), false));
  }

  async merge(name: string, source: string, from?: BlockNode): Promise<void> {
    await this.#change(() => this.#merge(name, source, from));
  }

  async nextDirty(name: string, offset: number): Promise<{ offset: number; length: number } | undefined> {
    if (!Number.isSafeInteger(offset) || offset < 0)
      throw new RangeError(`offset must be a safe integer of at least 0, got ${String(offset)}`);
    const bitmap = await this.#loaded(name);
    return bitmap.next(offset, this.#size);
  }

  get #size(): number {
    return (this.#image?.header ?? this.#header).size;
  }

  #writable(): Image {
    if (this.#image) return this.#image;
    const { path } = this.#file;
    const text = 'its bitmaps cannot be changed: it was opened read-only; open it with readOnly: false';
    throw new BlockError('ERR_READ_ONLY', `qcow2 image ${path}: ${text}`, { driver: 'qcow2', path });
  }

  /** Waits while the bitmaps are being stored, and lets that wait. */
  async #change(work: (image: Image) => Promise<void>): Promise<void> {
    const image = this.#writable();
    await image.change(() => work(image));
  }

  async #add(
    name: string,
    header: Qcow2Header,
    options: { granularity?: number | undefined; recording?: boolean | undefined },
  ): Promise<void> {
    await this.open();
    const { granularity = defaultGranularity(header.clusterSize), recording = true } = options;
    const nameBytes = new TextEncoder().encode(name);
    checkNew(this.#file, header, nameBytes, granularity);
    if (this.#bitmaps.some((bitmap) => bitmap.name === name))
      throw badOption(
        this.#file,
        `there is a bitmap '${name}' already; take another name, or remove it first`,
      );
    if (this.#bitmaps.length >= mostBitmaps)
      throw notPossible(this.#file, `there are ${mostBitmaps} bitmaps already, which is the most`);
    const bits = bitCount(header.size, granularity);
    this.#bitmaps.push(TrackedBitmap.create(name, nameBytes, granularity, recording, bits));
    this.#select();
    this.#changed = true;
  }

  async #merge(name: string, source: string, from: BlockNode | undefined): Promise<void> {
    const bitmap = await this.#loaded(name);
    const store = from ? from.features.bitmaps : this;
    if (!store)
      throw badOption(this.#file, `there is no bitmap '${source}' in ${from?.path || 'the other image'}`);
    if (from && from.size !== this.#size) {
      const sizes = `a disk of ${from.size} bytes, and this disk has ${this.#size}`;
      throw badOption(this.#file, `bitmap '${source}' is of ${sizes}; they must be equal to merge bitmaps`);
    }
    if (store instanceof Bitmaps) mergeOwn(bitmap, await store.#loaded(source), this.#size);
    else await mergeRanges(bitmap, store, source);
  }

  async #read(): Promise<void> {
    const file = this.#file;
    const directory = bitmapDirectory(this.#header, file);
    const found = await readBitmaps(this.#header, file);
    if (this.#image && directory) {
      const { offset, length } = directory;
      const hit = this.#image.areas.any(offset, offset + length);
      if (hit) throw corrupt(file, `${directoryName} lies over ${hit}`, offset);
    }
    this.#bitmaps = found.map((one) => new TrackedBitmap(one, bitCount(this.#size, one.granularity)));
    this.#settle(directory);
    this.#select();
  }

  async #begin(): Promise<void> {
    for (const bitmap of this.#recording) await this.#load(bitmap);
    const outdated = [...this.#bitmaps, ...this.#removed].filter((bitmap) => bitmap.outdatedByWrites);
    await markInUse(this.#file, outdated);
    this.#begun = true;
  }

  #resize(size: number): void {
    for (const { bits, granularity } of this.#bitmaps) bits.resize(bitCount(size, granularity));
  }

  #record(bitmap: TrackedBitmap, recording: boolean): void {
    if (bitmap.recording === recording) return;
    bitmap.recording = recording;
    this.#select();
    this.#changed = true;
  }

  #select(): void {
    this.#recording = this.#bitmaps.filter((bitmap) => bitmap.recording && bitmap.whyUnusable === undefined);
  }

  async #find(name: string): Promise<TrackedBitmap> {
    await this.open();
    const bitmap = this.#bitmaps.find((one) => one.name === name);
    if (!bitmap) throw badOption(this.#file, `there is no bitmap '${name}'`);
    return bitmap;
  }

  /** One that can be used, with its bits. */
  async #loaded(name: string): Promise<TrackedBitmap> {
    const bitmap = await this.#find(name);
    this.#assertUsable(bitmap);
    await this.#load(bitmap);
    return bitmap;
  }

  #assertUsable({ name, whyUnusable }: TrackedBitmap): void {
    if (whyUnusable !== undefined) throw notPossible(this.#file, `bitmap '${name}' ${whyUnusable}`);
  }

  async #load(bitmap: TrackedBitmap): Promise<void> {
    checkBits(this.#file, bitmap.bits.length, bitmap.granularity);
    await bitmap.load(this.#file, this.#header.clusterSize);
  }

  /** The directory is the one that was read or written, with all bitmaps in their order. */
  #settle(directory: BitmapDirectory | undefined): void {
    this.#directory = directory;
    this.#image?.areas.setTable(directoryName, directory);
    let at = directory?.offset ?? 0;
    for (const bitmap of this.#bitmaps) {
      bitmap.entryOffset = at;
      at += bitmap.entryBytes;
    }
  }
}

function mergeOwn(bitmap: TrackedBitmap, other: TrackedBitmap, size: number): void {
  if (other === bitmap) return;
  if (other.granularity === bitmap.granularity) {
    bitmap.bits.merge(other.bits);
    return;
  }
  for (let range = other.next(0, size); range; range = other.next(range.offset + range.length, size))
    bitmap.note(range.offset, range.length);
}

/** From an image of another format, or of another copy of this package. */
async function mergeRanges(bitmap: TrackedBitmap, store: BitmapStore, source: string): Promise<void> {
  let range = await store.nextDirty(source, 0);
  while (range) {
    bitmap.note(range.offset, range.length);
    range = await store.nextDirty(source, range.offset + range.length);
  }
}
