import { createRequire } from 'node:module';
import type { Decoder } from './decoder.ts';
import { type Encoder, windowBits, zstdLevel } from './encoder.ts';

/** The bytes written, or in words why not. */
type Decompress = (input: Uint8Array, output: Uint8Array) => Promise<number | string>;
/** The same, and 0 when there are more than `output` holds. */
type Compress = (input: Uint8Array, output: Uint8Array, parameter: number) => Promise<number | string>;

/** What `@blockyard/native/addon` gives, so far as it is needed here. */
interface Binding {
  probeInflate?(): string | undefined;
  inflateRaw?: Decompress;
  deflateRaw?: Compress;
  probeZstd?(): string | undefined;
  zstdDecompress?: Decompress;
  zstdCompress?: Compress;
}

function load(): Binding | undefined {
  try {
    const addon = createRequire(import.meta.url)('@blockyard/native/addon') as { binding?: Binding };
    return addon.binding;
  } catch {
    // Not installed: it is an accelerator.
    return undefined;
  }
}

const decoder =
  (decompress: Decompress): Decoder =>
  async (input, length, into = new Uint8Array(length)) => {
    const written = await decompress(input, into);
    if (typeof written === 'string') throw new Error(written);
    return written === length ? into : into.subarray(0, written);
  };

/** A decoder of the native package, or undefined where that is not installed, not for this platform, or lacks the library. */
export function nativeDecoder(name: 'inflate' | 'zstd'): Decoder | undefined {
  const binding = load();
  const [probe, decompress] =
    name === 'inflate'
      ? [binding?.probeInflate, binding?.inflateRaw]
      : [binding?.probeZstd, binding?.zstdDecompress];
  if (!decompress || !probe || probe() !== undefined) return undefined;
  return decoder(decompress);
}

/** An encoder of the native package, or undefined likewise. */
export function nativeEncoder(name: 'deflate' | 'zstd'): Encoder | undefined {
  const binding = load();
  const missing = name === 'zstd' ? binding?.probeZstd?.() : undefined;
  const [compress, parameter] =
    name === 'deflate' ? [binding?.deflateRaw, windowBits] : [binding?.zstdCompress, zstdLevel];
  if (!compress || missing !== undefined) return undefined;
  return async (input) => {
    if (input.length < 2) return undefined;
    const output = new Uint8Array(input.length - 1);
    const written = await compress(input, output, parameter);
    if (typeof written === 'string') throw new Error(written);
    return written === 0 ? undefined : output.subarray(0, written);
  };
}
