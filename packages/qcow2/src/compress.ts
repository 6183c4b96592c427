import { deflate, loadZstdEncoder } from '#platform';
import type { Encoder } from './platform/encoder.ts';

export type { Encoder } from './platform/encoder.ts';

let zstd: Promise<Encoder> | undefined;

const compressZstd: Encoder = async (input) => {
  zstd ??= loadZstdEncoder().catch((error: unknown) => {
    zstd = undefined;
    throw error;
  });
  return await (await zstd)(input);
};

/** "Compression type": what clusters are encoded with. Deflate is raw, without zlib's header. */
export const encoderFor = (type: 'zlib' | 'zstd'): Encoder => (type === 'zlib' ? deflate : compressZstd);
