import { inflate, loadZstd } from '#platform';
import type { Decoder } from './platform/decoder.ts';
import { zstdFrame } from './zstd-frame.ts';

let zstd: Promise<Decoder> | undefined;

/** The zstd decoder, which never sees what a frame's header shows to be wrong, nor what follows the frame. */
const decodeZstd: Decoder = async (input, length, into) => {
  const frame = zstdFrame(input);
  if (!frame) throw new Error('there is no whole zstd frame');
  if (frame.contentSize !== undefined && frame.contentSize !== length) {
    throw new Error(`the zstd frame holds ${frame.contentSize} bytes`);
  }
  zstd ??= loadZstd().catch((error: unknown) => {
    zstd = undefined;
    throw error;
  });
  return await (await zstd)(input.subarray(0, frame.length), length, into);
};

/** "Compression type": how the decoder for a cluster is found. Deflate is raw, without zlib's header. */
export const decoderFor = (type: 'zlib' | 'zstd'): Decoder => (type === 'zlib' ? inflate : decodeZstd);
