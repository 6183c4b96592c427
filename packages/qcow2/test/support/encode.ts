import { deflateRawSync } from 'node:zlib';

/** Writes big-endian numbers one after another. */
export class Encoder {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  #add(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.length += bytes.length;
    return this;
  }

  u8(value: number): this {
    return this.#add(Uint8Array.of(value));
  }

  u16(value: number): this {
    return this.u8(value >>> 8).u8(value & 255);
  }

  u32(value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value);
    return this.#add(bytes);
  }

  u64(value: number | bigint): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
    return this.#add(bytes);
  }

  bytes(bytes: Uint8Array): this {
    return this.#add(bytes);
  }

  text(text: string): this {
    return this.#add(new TextEncoder().encode(text));
  }

  /** Zeroes up to a multiple of `alignment`. */
  pad(alignment: number): this {
    return this.#add(new Uint8Array((alignment - (this.length % alignment)) % alignment));
  }

  done(): Uint8Array {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** What an image stores for a cluster compressed by zlib. */
export const deflate = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(deflateRawSync(bytes, { windowBits: 12 }));

/** Bytes that differ everywhere and are the same for the same seed. */
export function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = (seed * 2654435761) >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 255;
  }
  return bytes;
}

/** A copy with a big-endian number of `size` bytes written at `at`. */
export function patched(
  image: Uint8Array,
  at: number,
  value: number | bigint,
  size: 1 | 2 | 4 | 8,
): Uint8Array {
  const copy = image.slice();
  const view = new DataView(copy.buffer);
  const number = BigInt.asUintN(size * 8, BigInt(value));
  if (size === 8) view.setBigUint64(at, number);
  else if (size === 4) view.setUint32(at, Number(number));
  else if (size === 2) view.setUint16(at, Number(number));
  else view.setUint8(at, Number(number));
  return copy;
}

/** Where the fields of the header are. */
export const field = {
  magic: 0,
  version: 4,
  backingOffset: 8,
  backingLength: 16,
  clusterBits: 20,
  size: 24,
  cryptMethod: 32,
  l1Size: 36,
  l1Offset: 40,
  refcountTableOffset: 48,
  refcountTableClusters: 56,
  snapshotCount: 60,
  snapshotsOffset: 64,
  incompatible: 72,
  compatible: 80,
  autoclear: 88,
  refcountOrder: 96,
  headerLength: 100,
  compressionType: 104,
} as const;
