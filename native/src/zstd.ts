import type { Binding } from './binding.ts';
import type { Zstd } from './types.ts';

/** The system's library, or undefined where it cannot be opened. */
export function systemZstd(native: Binding): Zstd | undefined {
  if (native.probeZstd() !== undefined) return undefined;
  const check = (result: number | string, doing: string): number => {
    if (typeof result === 'number') return result;
    throw Object.assign(new Error(`zstd: ${doing}: ${result}`), { code: 'ERR_ZSTD' });
  };
  return {
    async decompress(input, output) {
      return check(await native.zstdDecompress(input, output), 'decompressing a frame');
    },
    async compress(input, output, level) {
      if (!Number.isInteger(level)) throw new RangeError(`level must be an integer, got ${String(level)}`);
      return check(await native.zstdCompress(input, output, level), 'compressing');
    },
  };
}
