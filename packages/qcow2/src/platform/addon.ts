import { createRequire } from 'node:module';
import type { Decoder } from './decoder.ts';

/** The bytes written, or in words why not. */
type Decompress = (input: Uint8Array, output: Uint8Array) => Promise<number | string>;

/** What `@blockyard/native/addon` gives, so far as it is needed here. */
interface Binding {
  probeInflate?(): string | undefined;
  inflateRaw?: Decompress;
  probeZstd?(): string | undefined;
  zstdDecompress?: Decompress;
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
