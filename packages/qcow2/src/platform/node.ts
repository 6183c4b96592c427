import * as zlib from 'node:zlib';
import { nativeDecoder } from './addon.ts';
import type { Decoder } from './decoder.ts';
import { loadZstdWasm } from './zstd-wasm.ts';

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

type NodeZstd = (
  input: Uint8Array,
  options: object,
  done: (error: Error | null, output: Uint8Array) => void,
) => void;

/** The system's library by the native package, else Node's own (22.15 and later), else WebAssembly. */
export async function loadZstd(): Promise<Decoder> {
  return nativeDecoder('zstd') ?? fromNode() ?? (await loadZstdWasm());
}

function fromNode(): Decoder | undefined {
  const decompress = (zlib as { zstdDecompress?: NodeZstd }).zstdDecompress;
  if (!decompress) return undefined;
  return (input, length) =>
    new Promise((resolve, reject) => {
      const options = { chunkSize: length + 64, maxOutputLength: length };
      decompress(input, options, (error, output) => (error ? reject(error) : resolve(output)));
    });
}
