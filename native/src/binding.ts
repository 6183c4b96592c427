import { createRequire } from 'node:module';
import type { EngineName } from './types.ts';

/** What the compiled part exports (addon/*.cc). */
export interface Binding {
  readonly sharedBytes: number;
  readonly simd: 'avx512' | 'avx2' | 'sse2' | 'neon' | 'scalar';
  readonly pageSize: number;
  /** Undefined when it can be set up, else why not. */
  probeEngine(kind: EngineName): string | undefined;
  /** The engine's number, or why there is none. */
  createEngine(kind: EngineName, shared: ArrayBuffer, onCompletions: () => void): number | string;
  referenceEngine(engine: number): void;
  cancelRequest(engine: number, slot: number): void;
  closeEngine(engine: number): boolean;
  stage(engine: number, slot: number, data: Uint8Array | readonly Uint8Array[]): void;
  registerBuffer(whole: Uint8Array): number;
  unregisterBuffer(id: number): void;
  address(view: Uint8Array): number;
  adviseHugePages(view: Uint8Array): void;
  findNonZero(view: Uint8Array): number;
  findNonZeroWith(view: Uint8Array, instructions: string): number | undefined;
  fileCall(
    operation: number,
    path: string,
    a: number,
    b?: number,
    c?: number,
    d?: number,
    e?: number,
  ): Promise<number | [string, ...number[]] | number[]>;
  probeInflate(): string | undefined;
  inflateRaw(input: Uint8Array, output: Uint8Array): Promise<number | string>;
  deflateRaw(input: Uint8Array, output: Uint8Array, windowBits: number): Promise<number | string>;
  probeZstd(): string | undefined;
  zstdDecompress(input: Uint8Array, output: Uint8Array): Promise<number | string>;
  zstdCompress(input: Uint8Array, output: Uint8Array, level: number): Promise<number | string>;
}

interface Addon {
  binding?: Binding;
  reason?: string;
}

export const { binding, reason } = createRequire(import.meta.url)('@blockyard/native/addon') as Addon;
