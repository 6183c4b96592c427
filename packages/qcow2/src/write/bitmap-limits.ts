import { granularityBits } from '../bitmaps.ts';
import { badOption, notPossible, type Where } from '../failure.ts';
import type { Qcow2Header } from '../header.ts';

/** What QEMU gives a bitmap at most: larger ones make the whole image unreadable for it. */
const mostBytes = 512 << 20;
const maxNameBytes = 1023;

/** QEMU's: the size of a cluster, from 4 to 64 KiB. */
export const defaultGranularity = (clusterSize: number): number =>
  Math.min(Math.max(clusterSize, 4096), 65536);

/** How many bits a bitmap has for a disk of `size` bytes. */
export const bitCount = (size: number, granularity: number): number => Math.ceil(size / granularity);

/** @throws BlockError ERR_INVALID_OPTION for what the format does not allow, ERR_NOT_SUPPORTED for what other programs do not */
export function checkNew(where: Where, header: Qcow2Header, name: Uint8Array, granularity: number): void {
  const least = 2 ** granularityBits.least;
  const most = 2 ** granularityBits.most;
  if (name.length === 0) throw badOption(where, 'a bitmap needs a name');
  if (name.length > maxNameBytes)
    throw badOption(where, `the name of a bitmap has ${name.length} bytes; the most is ${maxNameBytes}`);
  if (!(granularity >= least && granularity <= most && Number.isInteger(Math.log2(granularity)))) {
    throw badOption(
      where,
      `the granularity of a bitmap is a power of two from ${least} to ${most} bytes, and not ${granularity}`,
    );
  }
  if (header.version === 2)
    throw notPossible(where, 'version 2 has no bitmaps; amend the image to version 3 (compat=1.1) first');
  checkSize(where, header.size, granularity);
}

/** @throws BlockError ERR_NOT_SUPPORTED where other programs could not read the bitmap of a disk of `size` bytes */
export function checkSize(where: Where, size: number, granularity: number): void {
  if (size === 0) throw notPossible(where, 'the disk of an image with bitmaps cannot be empty');
  checkBits(where, bitCount(size, granularity), granularity);
}

/** @throws BlockError ERR_NOT_SUPPORTED where the bitmap would be larger than other programs take */
export function checkBits(where: Where, bits: number, granularity: number): void {
  const bytes = Math.ceil(bits / 8);
  if (bytes <= mostBytes) return;
  throw notPossible(
    where,
    `a bitmap with a granularity of ${granularity} bytes would take ${bytes} bytes for this disk; the most is ${mostBytes}: use a larger granularity`,
  );
}
