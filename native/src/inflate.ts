import type { Binding } from './binding.ts';
import type { Inflate } from './types.ts';

/** Undefined where neither Node nor the system gives zlib's functions. */
export function zlibInflate(native: Binding): Inflate | undefined {
  if (native.probeInflate() !== undefined) return undefined;
  return {
    async decompress(input, output) {
      const result = await native.inflateRaw(input, output);
      if (typeof result === 'number') return result;
      throw Object.assign(new Error(`inflate: ${result}`), { code: 'ERR_INFLATE' });
    },
  };
}
