import { alignDown, alignUp, type BlockNode } from '@blockyard/core';
import { CompressedDescriptor } from './descriptor.ts';
import { corrupt, truncated } from './failure.ts';
import type { L1Table } from './l1.ts';
import { checkL2Place, checkL2Start } from './l2-place.ts';
import type { MetadataAreas } from './metadata-areas.ts';
import type { MetadataCache, Slice } from './metadata-cache.ts';
import { type Kind, kinds, type Run } from './run.ts';
import { compressedFlag, copiedFlag, entryOffset } from './table-entry.ts';

/** What of the header a mapping depends on. */
export interface MappingLayout {
  version: 2 | 3;
  clusterBits: number;
  clusterSize: number;
  extendedL2: boolean;
  externalData: boolean;
  rawExternalData: boolean;
}

const subclustersPerCluster = 32;

/** From offsets of the disk to places in the file: "Cluster mapping" of the format. */
export class Mapping {
  readonly #layout: MappingLayout;
  readonly #l1: L1Table;
  readonly #cache: MetadataCache;
  readonly #areas: MetadataAreas;
  /** Holds tables; holds the data too unless `data` does. */
  readonly #file: BlockNode;
  readonly #data: BlockNode;
  readonly #entryBytes: number;
  readonly #perTable: number;
  readonly #perSlice: number;
  /** Bytes of the disk that one L2 table covers. */
  readonly #coverage: number;
  readonly #descriptor: CompressedDescriptor;
  /** The entry looked at last: fields instead of objects, since this is done for every cluster. */
  #hi = 0;
  #lo = 0;

  constructor(
    layout: MappingLayout,
    l1: L1Table,
    cache: MetadataCache,
    areas: MetadataAreas,
    file: BlockNode,
    data: BlockNode,
  ) {
    this.#layout = layout;
    this.#l1 = l1;
    this.#cache = cache;
    this.#areas = areas;
    this.#file = file;
    this.#data = data;
    this.#entryBytes = layout.extendedL2 ? 16 : 8;
    this.#perTable = layout.clusterSize / this.#entryBytes;
    this.#perSlice = cache.sliceBytes / this.#entryBytes;
    this.#coverage = this.#perTable * layout.clusterSize;
    this.#descriptor = new CompressedDescriptor(layout.clusterBits);
  }

  /**
   * Fills `run` with what is at `offset`, at most `length` bytes; returns a promise instead when a slice of an L2 table
   * has to be read first: then call again, with the slice that it gave.
   */
  find(offset: number, length: number, run: Run, loaded?: Slice): Promise<Slice> | undefined {
    const { clusterSize } = this.#layout;
    const l1Index = Math.floor(offset / this.#coverage);
    const table = this.#l1.at(l1Index);
    if (table === 0) {
      const end = Math.min(this.#l1.length, Math.ceil((offset + length) / this.#coverage));
      const used = this.#l1.nextUsed(l1Index + 1, end);
      run.kind = kinds.unallocated;
      run.length = Math.min(length, used * this.#coverage - offset);
      return undefined;
    }
    const inTable = offset - l1Index * this.#coverage;
    const entry = Math.floor(inTable / clusterSize);
    const inSlice = entry % this.#perSlice;
    const sliceOffset = table + (entry - inSlice) * this.#entryBytes;
    // Before the cache is asked: a table off its place could find another table's slices there.
    checkL2Start(this.#file, clusterSize, table, l1Index);
    // What is in memory is newer than what was loaded, and may have left since.
    let slice = this.#cache.hit(sliceOffset) ?? (loaded?.offset === sliceOffset ? loaded : undefined);
    if (slice === undefined) {
      checkL2Place(this.#file, clusterSize, this.#areas, table, l1Index);
      const got = this.#cache.load(sliceOffset);
      if (got instanceof Promise) return got;
      slice = got;
    }
    const inCluster = inTable - entry * clusterSize;
    this.#scan(slice, inSlice, inCluster, length, run, offset);
    if (run.kind === kinds.data) this.#checkData(run, offset, table);
    else if (run.kind === kinds.compressed) this.#checkCompressed(run, offset);
    return undefined;
  }

  #scan(slice: Slice, first: number, inCluster: number, length: number, run: Run, offset: number): void {
    const { clusterSize, extendedL2 } = this.#layout;
    this.#load(slice, first);
    const kind = extendedL2
      ? this.#subclusterKind(slice, first, inCluster, offset)
      : this.#clusterKind(offset);
    const place = entryOffset(this.#hi, this.#lo);
    run.kind = kind;
    run.inCluster = inCluster;
    if (kind === kinds.compressed) {
      run.host = this.#descriptor.offset(this.#hi, this.#lo);
      run.stored = this.#descriptor.stored(this.#hi, this.#lo);
      run.length = Math.min(length, clusterSize - inCluster);
      return;
    }
    run.host = place + inCluster;
    let found = extendedL2 ? this.#subclustersFrom(slice, first, inCluster) : clusterSize - inCluster;
    // Whole clusters that go on with the same; only what goes to a cluster's end can.
    for (
      let i = first + 1;
      i < this.#perSlice && found < length && (found + inCluster) % clusterSize === 0 && this.#has(slice, i);
      i++
    ) {
      this.#load(slice, i);
      if (this.#kindOrBad(slice, i, offset + found) !== kind) break;
      const placed = kind !== kinds.unallocated && kind !== kinds.zero;
      if (placed && entryOffset(this.#hi, this.#lo) !== run.host + found) break;
      found += extendedL2 ? this.#subclustersFrom(slice, i, 0) : clusterSize;
    }
    run.length = Math.min(length, found);
  }

  /** The kind of the entry loaded last; what is wrong with it is told when it is asked for by itself. */
  #kindOrBad(slice: Slice, index: number, offset: number): Kind | undefined {
    try {
      return this.#layout.extendedL2
        ? this.#subclusterKind(slice, index, 0, offset)
        : this.#clusterKind(offset);
    } catch {
      return undefined;
    }
  }

  #has(slice: Slice, index: number): boolean {
    return (index + 1) * this.#entryBytes <= slice.view.byteLength;
  }

  #load(slice: Slice, index: number): void {
    const at = index * this.#entryBytes;
    if (at + this.#entryBytes > slice.view.byteLength) {
      throw truncated(this.#file, 'an entry of an L2 table', slice.offset + at, this.#file.size);
    }
    this.#hi = slice.view.getUint32(at);
    this.#lo = slice.view.getUint32(at + 4);
  }

  /** "Standard Cluster Descriptor". */
  #clusterKind(offset: number): Kind {
    const hi = this.#hi;
    const lo = this.#lo;
    if (hi & compressedFlag) return kinds.compressed;
    if (lo & 1) {
      if (this.#layout.version < 3)
        throw corrupt(
          this.#file,
          `the entry for ${offset} has the zero flag, which version 2 has not`,
          offset,
        );
      // Without an offset there is no telling a place at the start of a data file from none.
      const placed = this.#isPlaced(offset) && entryOffset(this.#hi, this.#lo) !== 0;
      return placed ? kinds.zeroPlaced : kinds.zero;
    }
    return this.#isPlaced(offset) ? kinds.data : kinds.unallocated;
  }

  /** "Extended L2 Entries": two bits for each of 32 subclusters. */
  #subclusterKind(slice: Slice, index: number, inCluster: number, offset: number): Kind {
    if (this.#hi & compressedFlag) return kinds.compressed;
    const at = index * 16;
    const zeroes = slice.view.getUint32(at + 8);
    const allocated = slice.view.getUint32(at + 12);
    const sub = Math.floor((inCluster * subclustersPerCluster) / this.#layout.clusterSize);
    const isZero = (zeroes >>> sub) & 1;
    const isAllocated = (allocated >>> sub) & 1;
    if (isZero && isAllocated)
      throw corrupt(this.#file, `the subcluster for ${offset} is marked both zero and allocated`, offset);
    const placed = this.#isPlaced(offset);
    if (isZero) return placed ? kinds.zeroPlaced : kinds.zero;
    if (!isAllocated) return placed ? kinds.unallocatedPlaced : kinds.unallocated;
    if (!placed)
      throw corrupt(
        this.#file,
        `the subcluster for ${offset} is marked allocated, and its cluster has no place`,
        offset,
      );
    return kinds.data;
  }

  /** Bytes from `inCluster` to the end of the last subcluster that has the same two bits. */
  #subclustersFrom(slice: Slice, index: number, inCluster: number): number {
    const zeroes = slice.view.getUint32(index * 16 + 8);
    const allocated = slice.view.getUint32(index * 16 + 12);
    const bytes = this.#layout.clusterSize / subclustersPerCluster;
    const first = Math.floor(inCluster / bytes);
    // Bits that differ from those of the first subcluster, which is shifted to bit 0.
    const different =
      ((zeroes >>> first) ^ -((zeroes >>> first) & 1)) |
      ((allocated >>> first) ^ -((allocated >>> first) & 1));
    const left = subclustersPerCluster - first;
    const same = different === 0 ? left : Math.min(left, 31 - Math.clz32(different & -different));
    return (first + same) * bytes - inCluster;
  }

  /** Whether the entry gives its cluster a place; in an external data file, offset 0 is one where bit 63 is set. */
  #isPlaced(offset: number): boolean {
    const place = entryOffset(this.#hi, this.#lo);
    if (place === 0) return this.#layout.externalData && (this.#hi & copiedFlag) !== 0;
    if (place % this.#layout.clusterSize !== 0) {
      throw corrupt(
        this.#file,
        `the entry for ${offset} places it at ${place}, which is not the start of a cluster`,
        offset,
      );
    }
    return true;
  }

  #checkData(run: Run, offset: number, table: number): void {
    const { clusterSize, externalData, rawExternalData } = this.#layout;
    const { size } = this.#data;
    if (alignDown(run.host, clusterSize) >= size)
      throw truncated(this.#data, `the data for ${offset}`, run.host, size);
    // Of the file's last cluster the tail may be missing; what would start after that is the next run, and an error.
    run.length = Math.min(run.length, alignUp(size, clusterSize) - run.host);
    if (externalData) {
      if (rawExternalData && run.host !== offset) {
        throw corrupt(
          this.#file,
          `the entry for ${offset} places it at ${run.host} of a raw data file`,
          offset,
        );
      }
      return;
    }
    if (this.#areas.any(run.host, run.host + run.length) === undefined) return;
    // The clusters before the one that is wrong are told and read by themselves.
    run.length = Math.min(run.length, clusterSize - (run.host % clusterSize));
    const touched = this.#areas.any(run.host, run.host + run.length);
    if (touched) {
      const text = `the entry for ${offset} (in the L2 table at ${table}) places it at ${run.host}, over ${touched}`;
      throw corrupt(this.#file, text, offset);
    }
  }

  #checkCompressed(run: Run, offset: number): void {
    if (this.#layout.externalData)
      throw corrupt(
        this.#file,
        `the cluster for ${offset} is compressed, which an image with a data file cannot have`,
        offset,
      );
    const { size } = this.#file;
    if (run.host >= size) throw truncated(this.#file, `the compressed data for ${offset}`, run.host, size);
    const touched = this.#areas.any(run.host, run.host + 1);
    if (touched)
      throw corrupt(
        this.#file,
        `the compressed data for ${offset} is placed at ${run.host}, over ${touched}`,
        offset,
      );
    // The last sector of the file may be cut short.
    run.stored = Math.min(run.stored, size - run.host);
  }
}
