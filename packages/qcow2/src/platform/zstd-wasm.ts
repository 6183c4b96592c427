import type { Decoder } from './decoder.ts';
import { type Encoder, zstdLevel } from './encoder.ts';

/** A frame of the one byte 'A'. */
const tiny = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, 0x41);

/** The module in WebAssembly, loaded when first asked for. It blocks the thread while it works. */
async function load() {
  const module = await import('@bokuweb/zstd-wasm');
  const { default: common } = module as { default?: Pick<typeof module, 'init' | 'compress' | 'decompress'> };
  // Its CommonJS build arrives as the default export, its web build by name.
  const { init, compress, decompress } = common ?? module;
  // The module is shared with whoever else uses it, and breaks when it is initialised twice.
  if (!works(decompress)) await init();
  return { compress, decompress };
}

export async function loadZstdWasm(): Promise<Decoder> {
  const { decompress } = await load();
  // Without a content size in the frame, `defaultHeapSize` bounds the output.
  return async (input, length) => decompress(input, { defaultHeapSize: length });
}

export async function loadZstdWasmEncoder(): Promise<Encoder> {
  const { compress } = await load();
  return async (input) => {
    const output = compress(input, zstdLevel);
    return output.length < input.length ? output : undefined;
  };
}

function works(decompress: (input: Uint8Array) => Uint8Array): boolean {
  try {
    return decompress(tiny)[0] === 0x41;
  } catch {
    return false;
  }
}
