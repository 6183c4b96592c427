import { createHash, type Hash } from 'node:crypto';
import type { Digest } from './manifest.ts';

/** Disks up to this many bytes are hashed whole. */
export const wholeUpTo = 64 * 2 ** 20;

const blockBytes = 1 << 16;

/** Gives the bytes of a range, and skips what is known to be zero. */
export interface Content {
  size: number;
  /** In order, without overlap; everything outside reads as zeroes. */
  runs: Iterable<{ start: number; length: number }>;
  read(offset: number, length: number): Promise<Uint8Array> | Uint8Array;
}

const u64 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
};

/**
 * The digest of a disk. Above 64 MiB it is `sha256-nonzero`: for every block of 64 KiB that is not all zeroes, in
 * order, its offset (64 bits, little-endian) and its bytes; at the end the size of the disk (64 bits, little-endian).
 * It says as much as a hash of everything, without terabytes of zeroes.
 */
export async function digest(content: Content): Promise<Digest> {
  const hash = createHash('sha256');
  if (content.size <= wholeUpTo) {
    for (let at = 0; at < content.size; at += blockBytes) {
      hash.update(await content.read(at, Math.min(blockBytes, content.size - at)));
    }
    return { algorithm: 'sha256', value: hash.digest('hex') };
  }
  let next = 0;
  for (const run of content.runs) {
    const first = Math.max(next, run.start - (run.start % blockBytes));
    for (let at = first; at < run.start + run.length; at += blockBytes) {
      addBlock(hash, at, await content.read(at, Math.min(blockBytes, content.size - at)));
      next = at + blockBytes;
    }
  }
  hash.update(u64(content.size));
  return { algorithm: 'sha256-nonzero', value: hash.digest('hex') };
}

function addBlock(hash: Hash, offset: number, block: Uint8Array): void {
  if (block.every((byte) => byte === 0)) return;
  hash.update(u64(offset)).update(block);
}
