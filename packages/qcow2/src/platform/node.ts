import * as zlib from 'node:zlib';
import { nativeDecoder, nativeEncoder } from './addon.ts';
import type { Decoder } from './decoder.ts';
import { type Encoder, windowBits } from './encoder.ts';
import { proven } from './proven.ts';
import { loadZstdWasm, loadZstdWasmEncoder } from './zstd-wasm.ts';

/**
 * By `node:zlib`, on the thread pool, several at once. `zlib.inflateRaw` would end the stream as well, which costs a second turn of
 * the pool for each cluster. With a sync flush a stream that gave all its bytes may lack its end: QEMU takes such
 * clusters, and no byte of them is in doubt.
 */
export const inflateByNode: Decoder = (input, length) =>
  new Promise((resolve, reject) => {
    // One chunk holds all the output and shows that there is more.
    const stream = zlib.createInflateRaw({ chunkSize: length + 64, flush: zlib.constants.Z_SYNC_FLUSH });
    const chunks: Uint8Array[] = [];
    let total = 0;
    const take = (chunk: Uint8Array) => {
      chunks.push(chunk);
      total += chunk.length;
      if (total > length) stream.destroy(new Error(`it holds more than ${length} bytes`));
    };
    stream.on('error', reject);
    stream.on('data', take);
    stream.write(input, (error) => {
      if (error || stream.destroyed) return;
      for (let rest = stream.read(); rest !== null; rest = stream.read()) take(rest);
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks));
      stream.destroy();
    });
  });

let inflater: Decoder | undefined;

/** By the native package, which makes no stream for each cluster, else by Node's own. */
export const inflate: Decoder = (input, length, into) => {
  inflater ??= nativeDecoder('inflate') ?? inflateByNode;
  return inflater(input, length, into);
};

type NodeCall = (
  input: Uint8Array,
  options: object,
  done: (error: Error | null, output: Uint8Array) => void,
) => void;

/** The system's library by the native package, else Node's own (22.15 and later), else WebAssembly. */
export async function loadZstd(): Promise<Decoder> {
  return nativeDecoder('zstd') ?? fromNode() ?? (await loadZstdWasm());
}

function fromNode(): Decoder | undefined {
  const decompress = (zlib as { zstdDecompress?: NodeCall }).zstdDecompress;
  if (!decompress) return undefined;
  return (input, length) =>
    new Promise((resolve, reject) => {
      const options = { chunkSize: length + 64, maxOutputLength: length };
      decompress(input, options, (error, output) => (error ? reject(error) : resolve(output)));
    });
}

const encoder =
  (compress: NodeCall, options: object): Encoder =>
  (input) =>
    new Promise((resolve, reject) => {
      if (input.length < 2) return resolve(undefined);
      const most = { chunkSize: Math.max(64, input.length), maxOutputLength: input.length - 1 };
      compress(input, { ...options, ...most }, (error, output) => {
        if (!error) resolve(output);
        else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') resolve(undefined);
        else reject(error);
      });
    });

export const deflateByNode: Encoder = encoder(zlib.deflateRaw, { windowBits, memLevel: 9 });

let deflater: Encoder | undefined;

/** By the native package, else by Node's own. */
export const deflate: Encoder = (input) => {
  if (!deflater) {
    const ours = nativeEncoder('deflate');
    deflater = ours ? proven(ours, inflate) : deflateByNode;
  }
  return deflater(input);
};

/** Like {@link loadZstd}. Node's own default is the usual level. */
export async function loadZstdEncoder(): Promise<Encoder> {
  const { zstdCompress } = zlib as { zstdCompress?: NodeCall };
  const own = zstdCompress && encoder(zstdCompress, {});
  return nativeEncoder('zstd') ?? own ?? (await loadZstdWasmEncoder());
}
