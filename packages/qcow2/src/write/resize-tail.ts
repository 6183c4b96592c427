import { viewOf } from '../bytes.ts';
import { compressedFlag, copiedFlag, entryOffset, zeroFlag } from '../table-entry.ts';
import { subclusters } from './entries.ts';
import type { View } from './resize.ts';
import { isEmpty } from './resize-entries.ts';
import type { Transition } from './transition.ts';
import type { TransitionTables } from './transition-tables.ts';

/** The last cluster of the disk, of which only a part was the disk's, when it needs another place. */
export interface Tail {
  /** What it will hold: what the disk shows, and zeroes. */
  bytes: Uint8Array;
}

/**
 * Sees to it that the bytes between the end of the disk and that of its last cluster are zeroes: whatever was written
 * there, by a larger disk that was cut off or by a longer backing file, becomes visible now.
 */
export async function tailOf(
  transition: Transition,
  tables: TransitionTables,
  allocate: boolean,
  read: View['read'],
): Promise<Tail | undefined> {
  const { header, data, l1 } = transition.image;
  const { clusterSize, size } = header;
  const had = size % clusterSize;
  if (had === 0) return undefined;
  const start = size - had;
  const bytes = new Uint8Array(clusterSize);
  await read(start, bytes);
  const index = Math.floor(start / tables.coverage);
  const table = l1.at(index) === 0 ? undefined : viewOf(await tables.read(l1.at(index)));
  const at = ((start - index * tables.coverage) / clusterSize) * tables.entryBytes;
  const hi = table?.getUint32(at) ?? 0;
  const lo = table?.getUint32(at + 4) ?? 0;
  const bits = table && header.extendedL2 ? table.getUint32(at + 8) | table.getUint32(at + 12) : 0;
  const place = entryOffset(hi, lo);
  const isPlaced =
    (hi & compressedFlag) === 0 && (place !== 0 || (header.externalData && (hi & copiedFlag) !== 0));
  const isNothing = hi === 0 && lo === 0 && bits === 0;
  if (isEmpty(bytes.subarray(had)) && !(allocate && isNothing)) return undefined;
  const unit = header.extendedL2 ? clusterSize / subclusters : clusterSize;
  // Bits of the subclusters from the one that the disk ends in.
  const wanted = header.extendedL2 ? (0xffffffff << Math.floor(had / unit)) >>> 0 : 0;
  const shown = header.extendedL2 ? (bits & wanted) >>> 0 === wanted : (lo & zeroFlag) === 0;
  if (isPlaced && (hi & copiedFlag) !== 0 && shown) {
    const length = Math.min(clusterSize - had, data.size - place - had);
    if (length > 0) await data.writeZeroes(place + had, length);
    return undefined;
  }
  bytes.fill(0, had);
  return { bytes };
}
