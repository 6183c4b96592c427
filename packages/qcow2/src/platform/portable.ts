import type { Decoder } from './decoder.ts';
import { deflateRaw } from './deflate.ts';
import type { Encoder } from './encoder.ts';
import { inflateRaw } from './inflate.ts';
import { proven } from './proven.ts';
import { loadZstdWasm, loadZstdWasmEncoder } from './zstd-wasm.ts';

export const inflate: Decoder = async (input, length) => inflateRaw(input, length);

export const loadZstd = (): Promise<Decoder> => loadZstdWasm();

export const deflate: Encoder = proven(async (input) => deflateRaw(input), inflate);

export const loadZstdEncoder = (): Promise<Encoder> => loadZstdWasmEncoder();
