/** What a node has done since it was opened. Tests assert on these, never on time. */
export class NodeStats {
  reads = 0;
  readBytes = 0;
  writes = 0;
  writeBytes = 0;
  writeZeroes = 0;
  writeZeroesBytes = 0;
  discards = 0;
  discardBytes = 0;
  flushes = 0;
  blockStatuses = 0;
  /** Requests that failed, aborts included. */
  failed = 0;
  /** Extra requests to the driver because one was over a limit. */
  splits = 0;
  /** Requests copied through aligned memory, and their bytes. */
  bounces = 0;
  bouncedBytes = 0;
  /** Requests widened to requestAlignment (read-modify-write for writes). */
  padded = 0;
  /** Requests that waited for an overlapping one. */
  serialised = 0;
  /** Writes that became write-zeroes because all their bytes were zero. */
  detectedZeroes = 0;
  /** Write-zeroes done by writing zeroes because the driver could not. */
  zeroFallbacks = 0;
}
