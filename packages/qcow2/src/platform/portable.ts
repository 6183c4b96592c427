import type { Decoder } from './decoder.ts';
import { inflateRaw } from './inflate.ts';
import { loadZstdWasm } from './zstd-wasm.ts';

export const inflate: Decoder = async (input, length) => inflateRaw(input, length);

export const loadZstd = (): Promise<Decoder> => loadZstdWasm();
