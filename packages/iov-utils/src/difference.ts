/** Below this, making views of words costs more than it saves. */
const WORDS_FROM = 64;

const byBytes = (a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): number => {
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return i;
  return -1;
};

/** 64-bit words, 13 times as fast as bytes. Returns how many bytes from the starts on are surely the same. */
const sameWords = (a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): number => {
  const count = length >>> 3;
  const x = new BigUint64Array(a.buffer, a.byteOffset + aStart, count);
  const y = new BigUint64Array(b.buffer, b.byteOffset + bStart, count);
  const unrolled = count - (count & 3);
  let i = 0;
  for (; i < unrolled; i += 4) {
    if (x[i] !== y[i] || x[i + 1] !== y[i + 1] || x[i + 2] !== y[i + 2] || x[i + 3] !== y[i + 3]) break;
  }
  return i * 8;
};

/** The same at any address, half as fast. (64-bit reads from a DataView make bigints: slower than bytes.) */
const sameAnywhere = (
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): number => {
  const x = new DataView(a.buffer, a.byteOffset + aStart, length);
  const y = new DataView(b.buffer, b.byteOffset + bStart, length);
  const last = length - 16;
  let i = 0;
  for (; i <= last; i += 16) {
    const differing =
      (x.getInt32(i, true) ^ y.getInt32(i, true)) |
      (x.getInt32(i + 4, true) ^ y.getInt32(i + 4, true)) |
      (x.getInt32(i + 8, true) ^ y.getInt32(i + 8, true)) |
      (x.getInt32(i + 12, true) ^ y.getInt32(i + 12, true));
    if (differing !== 0) break;
  }
  return i;
};

/** The first index, counted from the starts, at which `length` bytes of `a` and `b` differ, or -1. */
export const difference = (
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): number => {
  let same = 0;
  if (length >= WORDS_FROM) {
    const aAddress = a.byteOffset + aStart;
    const apart = aAddress - (b.byteOffset + bStart);
    const head = apart % 8 === 0 ? -aAddress & 7 : 0;
    const inHead = byBytes(a, aStart, b, bStart, head);
    if (inHead !== -1) return inHead;
    const sameFrom = apart % 8 === 0 ? sameWords : sameAnywhere;
    same = head + sameFrom(a, aStart + head, b, bStart + head, length - head);
  }
  const at = byBytes(a, aStart + same, b, bStart + same, length - same);
  return at === -1 ? -1 : same + at;
};
