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
  requests: ConvertRequests;
}

export interface ConvertRequests {
  blockStatus: number;
  read: number;
  write: number;
  writeZeroes: number;
  copyRange: number;
}

export const emptyResult = (size: number): ConvertResult => ({
  size,
  bytesRead: 0,
  bytesZero: 0,
  bytesZeroDetected: 0,
  bytesWritten: 0,
  bytesZeroWritten: 0,
  bytesOffloaded: 0,
  requests: { blockStatus: 0, read: 0, write: 0, writeZeroes: 0, copyRange: 0 },
});
