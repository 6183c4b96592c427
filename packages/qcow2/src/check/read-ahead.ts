import { alignUp, type BlockNode } from '@blockyard/core';
import { Holes } from './holes.ts';

const requestBytes = 1 << 18;
const inFlight = 8;

/** Bytes of tables, in the order of the file. */
export interface Chunk {
  offset: number;
  bytes: Uint8Array;
  /** They are zeroes that were not read: `bytes` says nothing. */
  zero?: boolean;
  /** Why they could not be read: `bytes` are zeroes. */
  error?: unknown;
}

/**
 * Reads pieces of `pieceBytes` each at `offsets`, which ascend: neighbours with one request, several requests in flight,
 * in memory that is used again. What lies past the end of the file is zeroes. `visit` gets pieces one after another.
 */
export async function readPieces(
  file: BlockNode,
  offsets: ArrayLike<number>,
  pieceBytes: number,
  signal: AbortSignal | undefined,
  visit: (piece: Chunk) => void | Promise<void>,
  onProgress?: (bytes: number) => void,
): Promise<void> {
  const most = Math.min(offsets.length, Math.max(1, Math.floor(requestBytes / pieceBytes)));
  const holes = new Holes(file, offsets.length * pieceBytes);
  const free: Uint8Array[] = [];
  const started: Promise<Chunk>[] = [];
  let next = 0;
  const start = () => {
    const offset = offsets[next] as number;
    let count = 1;
    while (count < most && offsets[next + count] === offset + count * pieceBytes) count++;
    next += count;
    const memory = free.pop() ?? memoryFor(file, most * pieceBytes);
    const reading = readChunk(file, offset, memory.subarray(0, count * pieceBytes), holes, signal);
    // Whoever waits for it is told; until then it must not count as unheard.
    reading.catch(() => {});
    started.push(reading);
    return memory;
  };
  const memories: Uint8Array[] = [];
  try {
    while (next < offsets.length || started.length > 0) {
      while (next < offsets.length && started.length < inFlight) memories.push(start());
      const chunk = await (started.shift() as Promise<Chunk>);
      const memory = memories.shift() as Uint8Array;
      for (let at = 0; at < chunk.bytes.length; at += pieceBytes) {
        const piece = {
          ...chunk,
          offset: chunk.offset + at,
          bytes: chunk.bytes.subarray(at, at + pieceBytes),
        };
        const visited = visit(piece);
        if (visited) await visited;
      }
      free.push(memory);
      onProgress?.(chunk.bytes.length);
    }
  } finally {
    // Their memory must not be in use when the caller has gone on.
    await Promise.allSettled(started);
    for (const memory of [...free, ...memories]) file.memory.release(memory);
  }
}

/** Reads one range in pieces of at most `requestBytes`. */
export async function readRange(
  file: BlockNode,
  offset: number,
  length: number,
  signal: AbortSignal | undefined,
  visit: (piece: Chunk) => void | Promise<void>,
): Promise<void> {
  const pieceBytes = Math.min(length, requestBytes);
  const offsets = new Float64Array(Math.ceil(length / pieceBytes)).map((_, i) => offset + i * pieceBytes);
  await readPieces(file, offsets, pieceBytes, signal, (piece) =>
    visit({ ...piece, bytes: piece.bytes.subarray(0, Math.min(pieceBytes, offset + length - piece.offset)) }),
  );
}

function memoryFor({ memory, limits }: BlockNode, length: number): Uint8Array {
  return memory.allocate(alignUp(length, limits.minMemAlignment), limits.optMemAlignment);
}

async function readChunk(
  file: BlockNode,
  offset: number,
  bytes: Uint8Array,
  holes: Holes,
  signal: AbortSignal | undefined,
): Promise<Chunk> {
  signal?.throwIfAborted();
  const there = Math.min(bytes.length, Math.max(0, file.size - offset));
  try {
    if (holes.asks && (there === 0 || (await holes.covers(offset, there))))
      return { offset, bytes, zero: true };
    if (there > 0) await file.read(offset, bytes.subarray(0, there), { signal });
    bytes.fill(0, there);
    return { offset, bytes };
  } catch (error) {
    signal?.throwIfAborted();
    return { offset, bytes: bytes.fill(0), error };
  }
}
