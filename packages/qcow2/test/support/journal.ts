import {
  type BlockDriver,
  type BlockNode,
  createRegistry,
  memory,
  type OpenContext,
  PassThroughNode,
  type TruncateOptions,
} from '@blockyard/core';
import { byteLength, copyTo, type IoData } from '@blockyard/iov-utils';

/** A change of the file below, or 'flush': everything before is durable. */
export type Entry = 'flush' | { offset: number; bytes: Uint8Array } | { size: number };

/** What a file went through, and a request that fails. */
export class Journal {
  readonly entries: Entry[] = [];
  /** The request with this number, from 0, fails with EIO, as do all after it. */
  failFrom = Number.POSITIVE_INFINITY;
  requests = 0;

  count(): void {
    if (this.requests++ >= this.failFrom) throw Object.assign(new Error('made to fail'), { code: 'EIO' });
  }
}

class JournalNode extends PassThroughNode {
  readonly #journal: Journal;

  constructor(file: BlockNode, context: OpenContext, journal: Journal) {
    super(file, context, 'journal');
    this.#journal = journal;
  }

  protected override _read(offset: number, into: IoData): void {
    this.#journal.count();
    return this.file.read(offset, into) as undefined;
  }

  protected override _write(offset: number, from: IoData): void {
    this.#journal.count();
    const bytes = new Uint8Array(byteLength(from));
    copyTo(from, bytes);
    this.#journal.entries.push({ offset, bytes });
    return this.file.write(offset, bytes) as undefined;
  }

  protected override _writeZeroes(offset: number, length: number): void {
    return this._write(offset, new Uint8Array(length));
  }

  protected override _flush(): void {
    this.#journal.count();
    this.#journal.entries.push('flush');
  }

  protected override _truncate(size: number, options: TruncateOptions): Promise<void> {
    this.#journal.count();
    this.#journal.entries.push({ size });
    return this.file.truncate(size, options);
  }
}

/** A file in memory with these bytes, and the journal of what becomes of them. */
export async function journaled(data: Uint8Array): Promise<{ file: BlockNode; journal: Journal }> {
  const journal = new Journal();
  const driver: BlockDriver<{ file: never }> = {
    name: 'journal',
    kind: 'filter',
    help: 'records requests',
    options: { file: { type: 'node', required: true, help: 'below' } },
    open: async (options, context) =>
      new JournalNode(await context.openChild('file', options.file), context, journal),
  };
  const registry = createRegistry([memory(), driver] as unknown as BlockDriver[]);
  const below = { driver: 'memory', data: data.slice() };
  return { file: await registry.openNode({ driver: 'journal', file: below }), journal };
}

export async function contentOf(node: BlockNode): Promise<Uint8Array> {
  const bytes = new Uint8Array(node.size);
  if (bytes.length > 0) await node.read(0, bytes);
  return bytes;
}

const sector = 512;

interface Piece {
  offset: number;
  bytes: Uint8Array;
}

/**
 * What a disk may hold after a power cut: everything up to a flush, and any of the sectors written after it. All
 * choices where they are few, else some of them.
 */
export function* powerCuts(before: Uint8Array, entries: readonly Entry[], most = 256): Generator<Uint8Array> {
  let durable = before;
  let pieces: Piece[] = [];
  let size = before.length;
  for (const entry of [...entries, 'flush' as const]) {
    if (entry === 'flush') {
      yield* subsets(durable, pieces, size, most);
      durable = apply(durable, pieces, size);
      pieces = [];
    } else if ('size' in entry) size = entry.size;
    else pieces.push(...torn(entry));
  }
  yield durable;
}

function* torn({ offset, bytes }: Piece): Generator<Piece> {
  for (let at = 0; at < bytes.length; ) {
    const length = Math.min(bytes.length - at, sector - ((offset + at) % sector));
    yield { offset: offset + at, bytes: bytes.subarray(at, at + length) };
    at += length;
  }
}

function apply(base: Uint8Array, pieces: readonly Piece[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes.set(base.subarray(0, size));
  for (const piece of pieces) bytes.set(piece.bytes, piece.offset);
  return bytes;
}

function* subsets(
  base: Uint8Array,
  pieces: readonly Piece[],
  size: number,
  most: number,
): Generator<Uint8Array> {
  const all = 2 ** pieces.length;
  if (all <= most) {
    for (let mask = 0; mask < all; mask++)
      yield apply(
        base,
        pieces.filter((_, i) => mask & (2 ** i)),
        size,
      );
    return;
  }
  let state = 1;
  for (let i = 0; i < most; i++) {
    const chosen = pieces.filter(() => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state & 0x10000;
    });
    yield apply(base, chosen, size);
  }
  for (let cut = 0; cut <= pieces.length; cut += Math.ceil(pieces.length / 64))
    yield apply(base, pieces.slice(0, cut), size);
}
