import { viewOf } from '../bytes.ts';
import { CompressedDescriptor } from '../descriptor.ts';
import { corrupt } from '../failure.ts';
import type { Image } from '../image.ts';
import { L1Table } from '../l1.ts';
import { compressedFlag, copiedFlag, entryOffset } from '../table-entry.ts';
import type { TransitionRefcounts } from './transition-refcounts.ts';

/** L2 tables as they are in the file, one at a time, and the references that their entries are. */
export class TransitionTables {
  readonly #image: Image;
  readonly #counts: TransitionRefcounts;
  readonly #descriptor: CompressedDescriptor;
  readonly entryBytes: number;
  readonly perTable: number;

  constructor(image: Image, counts: TransitionRefcounts) {
    this.#image = image;
    this.#counts = counts;
    this.#descriptor = new CompressedDescriptor(image.header.clusterBits);
    this.entryBytes = image.header.extendedL2 ? 16 : 8;
    this.perTable = image.header.clusterSize / this.entryBytes;
  }

  /** Bytes of the disk that one table covers. */
  get coverage(): number {
    return this.perTable * this.#image.header.clusterSize;
  }

  async read(offset: number): Promise<Uint8Array> {
    const { file, header, areas } = this.#image;
    const wrong = (text: string) => corrupt(file, `the L2 table at ${offset} ${text}`, offset);
    if (offset % header.clusterSize !== 0) throw wrong('does not start at a cluster');
    if (offset + header.clusterSize > file.size) throw wrong('is not whole in the file');
    const touched = areas.fixed(offset, offset + header.clusterSize);
    if (touched) throw wrong(`overlaps ${touched}`);
    const bytes = new Uint8Array(header.clusterSize);
    await file.read(offset, bytes);
    return bytes;
  }

  /** Everything that the entries from `first` to before `end` refer to has one reference more or less. */
  async count(what: string, table: Uint8Array, delta: 1 | -1, first = 0, end = this.perTable): Promise<void> {
    const { externalData, clusterSize } = this.#image.header;
    // The clusters of a data file are not counted.
    if (externalData) return;
    const view = viewOf(table);
    let start = 0;
    let length = 0;
    for (let i = first; i < end; i++) {
      const hi = view.getUint32(i * this.entryBytes);
      const lo = view.getUint32(i * this.entryBytes + 4);
      const isCompressed = (hi & compressedFlag) !== 0;
      const offset = isCompressed ? this.#descriptor.offset(hi, lo) : entryOffset(hi, lo);
      if (!isCompressed && offset === 0) continue;
      const bytes = isCompressed ? this.#descriptor.stored(hi, lo) : clusterSize;
      if (!isCompressed) this.#checkPlace(offset);
      // Neighbours go together; compressed ones may share a cluster, and each is a reference of its own.
      if (!isCompressed && length > 0 && start + length === offset) {
        length += bytes;
        continue;
      }
      if (length > 0) await this.#change(what, start, length, delta);
      if (isCompressed) await this.#change(what, offset, bytes, delta);
      start = offset;
      length = isCompressed ? 0 : bytes;
    }
    if (length > 0) await this.#change(what, start, length, delta);
  }

  /** Who gives up a table in the belief that it is data would leave the image without it. */
  async #change(what: string, offset: number, bytes: number, delta: 1 | -1): Promise<void> {
    const hit = delta < 0 ? this.#image.areas.hit('all', offset, offset + bytes) : undefined;
    if (hit)
      throw corrupt(this.#image.file, `an entry of ${what} leads to ${offset}, where ${hit} is`, offset);
    await this.#counts.change(what, offset, bytes, delta);
  }

  /** Gives each entry the flag that it is to have: whether what it refers to is nobody else's. Whether any changed. */
  async flag(table: Uint8Array): Promise<boolean> {
    const view = viewOf(table);
    let changed = false;
    for (let at = 0; at < table.length; at += this.entryBytes) {
      const hi = view.getUint32(at);
      const offset = entryOffset(hi, view.getUint32(at + 4));
      if ((hi & compressedFlag) !== 0 || offset === 0) continue;
      this.#checkPlace(offset);
      const count = this.#counts.get(offset / this.#image.header.clusterSize);
      const sole = (count instanceof Promise ? await count : count) === 1;
      if (sole === ((hi & copiedFlag) !== 0)) continue;
      view.setUint32(at, (sole ? hi | copiedFlag : hi & ~copiedFlag) >>> 0);
      changed = true;
    }
    return changed;
  }

  /** One reference more or less to every table of an L1 table from entry `first` on, and to all that they refer to. */
  async countAll(
    what: string,
    l1: L1Table,
    delta: 1 | -1,
    checkSignal: () => void,
    first = 0,
  ): Promise<void> {
    for (let i = l1.nextUsed(first, l1.length); i < l1.length; i = l1.nextUsed(i + 1, l1.length)) {
      checkSignal();
      const offset = l1.at(i);
      await this.count(what, await this.read(offset), delta);
      await this.#counts.change(what, offset, this.#image.header.clusterSize, delta);
    }
  }

  #checkPlace(offset: number): void {
    if (offset % this.#image.header.clusterSize === 0) return;
    throw corrupt(
      this.#image.file,
      `an entry leads to ${offset}, which is not the start of a cluster`,
      offset,
    );
  }
}

/** A copy of an L1 table with so many entries; what does not fit is cut off. */
export function copyL1(l1: L1Table, length: number): L1Table {
  const bytes = new Uint8Array(length * 8);
  bytes.set(l1.bytes().subarray(0, bytes.length));
  return new L1Table(bytes);
}
