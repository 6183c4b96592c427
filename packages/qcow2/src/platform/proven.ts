import type { Decoder } from './decoder.ts';
import type { Encoder } from './encoder.ts';

/**
 * An encoder whose every output is decoded again and compared, for encoders that are not another project's: no disk is
 * to find out years later. What does not come back is treated as what does not get smaller.
 */
export const proven =
  (encode: Encoder, decode: Decoder): Encoder =>
  async (input) => {
    const output = await encode(input);
    if (!output) return undefined;
    const back = await decode(output, input.length).catch(() => undefined);
    return back && same(back, input) ? output : undefined;
  };

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  const whole = (a.byteOffset | b.byteOffset) % 4 === 0 ? a.length >>> 2 : 0;
  const wordsOfA = new Uint32Array(a.buffer, whole > 0 ? a.byteOffset : 0, whole);
  const wordsOfB = new Uint32Array(b.buffer, whole > 0 ? b.byteOffset : 0, whole);
  for (let i = 0; i < whole; i++) if (wordsOfA[i] !== wordsOfB[i]) return false;
  for (let i = whole * 4; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
