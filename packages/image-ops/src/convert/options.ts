import { checkCount, type OperationOptions } from '../operation.ts';

export interface ConvertOptions extends OperationOptions {
  /**
   * Runs of zeroes of at least so many bytes are not written as bytes (default 4096; whole clusters of a target that
   * has them). 0 writes every byte and gives storage to zeroes too: the target is fully allocated.
   */
  sparse?: number | undefined;
  /** Every byte of the target is zero before: zeroes need no writing. A new file is. */
  targetIsZero?: boolean | undefined;
  /**
   * Try to have data copied below user space (reflink, in-kernel copy). What cannot be copied so is read and
   * written. Zeroes among the bytes are then not looked for. Default false.
   */
  copyRange?: boolean | undefined;
  /** Write what was read first first, wherever it lies; without it writes begin in the order of the disk. */
  outOfOrder?: boolean | undefined;
  /** Store compressed, where the target's format can. */
  compressed?: boolean | undefined;
  /** Leave to the target's backing file what it shows already. The target may hold data of its own. */
  backing?: boolean | undefined;
  /** Copy the dirty bitmaps that are kept in the source. */
  bitmaps?: boolean | undefined;
  /** With `bitmaps`: leave out those that are inconsistent, instead of failing. */
  skipBrokenBitmaps?: boolean | undefined;
  /** What cannot be read becomes zeroes, as little of it as possible, and is listed in the result. */
  salvage?: boolean | undefined;
}

export const defaultSparse = 4096;
const largestSparse = 2 ** 31;

export function checkSparse(sparse: number): void {
  checkCount('sparse', sparse, 0);
  if (sparse > largestSparse)
    throw new RangeError(`sparse: expected at most ${largestSparse}, got ${sparse}`);
}
