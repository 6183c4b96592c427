/** What an open node can do, as data. */
export interface Supports {
  write: boolean;
  /** Deallocates on discard; elsewhere a discard is accepted and does nothing. */
  discard: boolean;
  /** Writes zeroes without writing bytes; elsewhere the pipeline writes a zero buffer. */
  writeZeroes: boolean;
  /** Tells extents; elsewhere the whole node is data. */
  blockStatus: boolean;
  resize: boolean;
  /** Takes `fua` itself; elsewhere the pipeline flushes after the write. */
  fua: boolean;
  /** Takes compressed writes. */
  compress: boolean;
  /** Copies ranges from another node of the same driver below user space. */
  copyRange: boolean;
}

export const readOnlySupports: Readonly<Supports> = {
  write: false,
  discard: false,
  writeZeroes: false,
  blockStatus: false,
  resize: false,
  fua: false,
  compress: false,
  copyRange: false,
};
