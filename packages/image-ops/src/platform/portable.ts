import type { Hash } from './hash.ts';

// The digest of Web Crypto wants all bytes at once, which a disk does not fit into.

const blockBytes = 64;

const isPrime = (n: number): boolean => {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return true;
};

/** The first 32 bits of the fractional part. */
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0;

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (isPrime(n)) primes.push(n);
const roundConstants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initialState = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** FIPS 180-4, as a stream. */
export function createSha256(): Hash {
  const state = Int32Array.from(initialState);
  const block = new Uint8Array(blockBytes);
  const words = new Int32Array(64);
  let held = 0;
  let total = 0;
  const update = (bytes: Uint8Array) => {
    total += bytes.byteLength;
    let at = 0;
    if (held > 0) {
      at = Math.min(blockBytes - held, bytes.byteLength);
      block.set(bytes.subarray(0, at), held);
      held += at;
      if (held < blockBytes) return;
      compress(state, words, block, 0);
      held = 0;
    }
    for (; at + blockBytes <= bytes.byteLength; at += blockBytes) compress(state, words, bytes, at);
    block.set(bytes.subarray(at), 0);
    held = bytes.byteLength - at;
  };
  const digest = (): string => {
    const bytes = total;
    const padding = new Uint8Array((held < 56 ? 56 : 120) - held + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.byteLength - 8, Math.floor(bytes / 2 ** 29));
    view.setUint32(padding.byteLength - 4, (bytes % 2 ** 29) * 8);
    update(padding);
    return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  };
  return { update, digest };
}

const rotate = (x: number, bits: number): number => (x >>> bits) | (x << (32 - bits));

function compress(state: Int32Array, words: Int32Array, bytes: Uint8Array, at: number): void {
  const byte = (index: number) => bytes[at + index] as number;
  const word = (index: number) => words[index] as number;
  for (let i = 0; i < 16; i++) {
    words[i] = (byte(i * 4) << 24) | (byte(i * 4 + 1) << 16) | (byte(i * 4 + 2) << 8) | byte(i * 4 + 3);
  }
  for (let i = 16; i < 64; i++) {
    const [before, last] = [word(i - 15), word(i - 2)];
    const s0 = rotate(before, 7) ^ rotate(before, 18) ^ (before >>> 3);
    const s1 = rotate(last, 17) ^ rotate(last, 19) ^ (last >>> 10);
    words[i] = (word(i - 16) + s0 + word(i - 7) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let i = 0; i < 64; i++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + sum1 + ((e & f) ^ (~e & g)) + (roundConstants[i] as number) + word(i)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => {
    state[index] = ((state[index] as number) + value) | 0;
  });
}
