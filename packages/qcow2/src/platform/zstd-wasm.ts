import type { Decoder } from './decoder.ts';

/** The decoder in WebAssembly, loaded when first asked for. It blocks the thread while it works. */
export async function loadZstdWasm(): Promise<Decoder> {
  const module = await import('@bokuweb/zstd-wasm');
  const { default: common } = module as { default?: Pick<typeof module, 'init' | 'decompress'> };
  // Its CommonJS build arrives as the default export, its web build by name.
  const { init, decompress } = common ?? module;
  await init();
  // Without a content size in the frame, `defaultHeapSize` bounds the output.
  return async (input, length) => decompress(input, { defaultHeapSize: length });
}
