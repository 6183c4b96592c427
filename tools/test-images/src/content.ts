/** A repeatable source of numbers (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `noise` does not compress; `text` compresses well; both tell where they belong, so that a misplaced block shows. */
export type Kind = 'noise' | 'text' | 'mixed';

export function pattern(kind: Kind, length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const next = random(seed);
  for (let at = 0; at < length; at += 512) {
    const sector = bytes.subarray(at, at + 512);
    const noisy = kind === 'noise' || (kind === 'mixed' && (at >> 12) % 4 === 1);
    if (noisy) for (let i = 0; i < sector.length; i++) sector[i] = next() * 256;
    else fillText(sector, `${seed}/${(at / 512).toString(36)} `);
  }
  return bytes;
}

function fillText(sector: Uint8Array, words: string): void {
  for (let i = 0; i < sector.length; i++) sector[i] = words.charCodeAt(i % words.length);
}
