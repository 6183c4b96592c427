/** What a conversion did, in bytes of the guest-visible disk and in requests. */
export interface ConvertResult {
  /** Bytes of the source's disk. */
  size: number;
  bytesRead: number;
  /** Known to be zero from the source's block status, and so never read. */
  bytesZero: number;
  /** Read, found to be zero, and not written as bytes. */
  bytesZeroDetected: number;
  bytesWritten: number;
  /** Zeroes that the target was told to write without bytes. */
  bytesZeroWritten: number;
  /** Copied below user space. */
  bytesOffloaded: number;
  /** With `backing`: shown by the target's backing file already, and so not written. */
  bytesBacked: number;
  requests: ConvertRequests;
  /** With `salvage`. */
  lost?: LostBytes;
  /** With `bitmaps`: names. */
  bitmaps?: { copied: readonly string[]; skipped: readonly string[] };
}

export interface ConvertRequests {
  blockStatus: number;
  read: number;
  write: number;
  writeZeroes: number;
  copyRange: number;
}

/** What could not be read, and is zero in the target. */
export interface LostBytes {
  bytes: number;
  /** In the order of the disk, neighbours joined. Where there are too many to keep, `complete` is false. */
  ranges: readonly LostRange[];
  complete: boolean;
}

export interface LostRange {
  offset: number;
  length: number;
  /** What the first failure said. */
  reason: string;
}

export const emptyResult = (size: number): ConvertResult => ({
  size,
  bytesRead: 0,
  bytesZero: 0,
  bytesZeroDetected: 0,
  bytesWritten: 0,
  bytesZeroWritten: 0,
  bytesOffloaded: 0,
  bytesBacked: 0,
  requests: { blockStatus: 0, read: 0, write: 0, writeZeroes: 0, copyRange: 0 },
});
