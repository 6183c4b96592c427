const tileBytes = 4096;

/**
 * Bytes for a write: told apart by its seed, and in each sector by its place, so that neither another write nor another
 * place passes for it. Every fifth is zeroes, half of the others compress well.
 */
export function content(seed: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  if (seed % 5 === 0) return bytes;
  bytes.set(tile(seed).subarray(0, length));
  for (let filled = tileBytes; filled < length; filled *= 2) bytes.copyWithin(filled, 0, filled);
  for (let at = 512 - (offset % 512); at + 4 <= length; at += 512) {
    const sector = (offset + at) / 512;
    bytes[at] = sector;
    bytes[at + 1] = sector >>> 8;
    bytes[at + 2] = sector >>> 16;
    bytes[at + 3] = 0x5a;
  }
  return bytes;
}

function tile(seed: number): Uint8Array {
  const bytes = new Uint8Array(tileBytes);
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  for (let i = 0; i < tileBytes; i++) {
    if (seed % 2 === 0 || i % 16 === 0) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
    }
    bytes[i] = (state >>> 11) | 1;
  }
  return bytes;
}
