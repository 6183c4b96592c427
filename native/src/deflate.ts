import type { Binding } from './binding.ts';
import type { Deflate } from './types.ts';

export function deflateEncoder(native: Binding): Deflate {
  return {
    async compress(input, output, windowBits = 15) {
      if (!Number.isInteger(windowBits) || windowBits < 9 || windowBits > 15)
        throw new RangeError(`windowBits must be an integer from 9 to 15, got ${String(windowBits)}`);
      const result = await native.deflateRaw(input, output, windowBits);
      if (typeof result === 'number') return result;
      throw Object.assign(new Error(`deflate: ${result}`), { code: 'ERR_DEFLATE' });
    },
  };
}
