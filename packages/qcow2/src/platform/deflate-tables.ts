// RFC 1951, section 3.2.5 and 3.2.7: what decoder and encoder share.

/** By length code - 257. */
export const lengthBase = new Uint16Array(29);
export const lengthExtra = new Uint8Array(29);
/** By distance code. */
export const distanceBase = new Uint16Array(30);
export const distanceExtra = new Uint8Array(30);
/** The order in which the lengths of the codes for code lengths are stored. */
export const codeOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] as const;

for (let i = 0, base = 3; i < 28; i++) {
  lengthExtra[i] = i < 8 ? 0 : (i >> 2) - 1;
  lengthBase[i] = base;
  base += 1 << (lengthExtra[i] as number);
}
lengthBase[28] = 258;
for (let i = 0, base = 1; i < 30; i++) {
  distanceExtra[i] = i < 4 ? 0 : (i >> 1) - 1;
  distanceBase[i] = base;
  base += 1 << (distanceExtra[i] as number);
}

/** The lengths of the fixed codes. */
export const fixedLiterals = new Uint8Array(288)
  .fill(8, 0, 144)
  .fill(9, 144, 256)
  .fill(7, 256, 280)
  .fill(8, 280);
export const fixedDistances = new Uint8Array(32).fill(5);
