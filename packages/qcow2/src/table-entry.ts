const high = 2 ** 32;

/** Bit 63 of an L1 or L2 entry: nothing else refers to the cluster, so that it may be written in place. */
export const copiedFlag = 0x80000000;
/** Bit 62 of an L2 entry. */
export const compressedFlag = 0x40000000;
/** Bit 0 of an L2 entry. */
export const zeroFlag = 1;

/** Bits 9 to 55 of an L1 or L2 entry: a cluster's offset. May lie above 2^53, where no file reaches. */
export const entryOffset = (hi: number, lo: number): number =>
  (hi & 0x00ffffff) * high + ((lo & 0xfffffe00) >>> 0);

/** Writes an entry at byte `at` of a table: an offset, the copied flag, and `flags` in the low bits. */
export function putEntry(view: DataView, at: number, offset: number, copied = false, flags = 0): void {
  view.setUint32(at, Math.floor(offset / high) + (copied ? copiedFlag : 0));
  view.setUint32(at + 4, (offset % high) + flags);
}
