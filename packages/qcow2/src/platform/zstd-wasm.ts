import type { Decoder } from './decoder.ts';

/** A frame of the one byte 'A'. */
const tiny = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, 0x41);

/** The decoder in WebAssembly, loaded when first asked for. It blocks the thread while it works. */
export async function loadZstdWasm(): Promise<Decoder> {
  const module = await import('@bokuweb/zstd-wasm');
  const { default: common } = module as { default?: Pick<typeof module, 'init' | 'decompress'> };
  // Its CommonJS build arrives as the default export, its web build by name.
  const { init, decompress } = common ?? module;
  // The module is shared with whoever else uses it, and breaks when it is initialised twice.
  if (!works(decompress)) await init();
  // Without a content size in the frame, `defaultHeapSize` bounds the output.
  return async (input, length) => decompress(input, { defaultHeapSize: length });
}

function works(decompress: (input: Uint8Array) => Uint8Array): boolean {
  try {
    return decompress(tiny)[0] === 0x41;
  } catch {
    return false;
  }
}
