import type { BlockNode } from '@blockyard/core';
import { viewOf } from '../bytes.ts';
import { putEntry } from '../table-entry.ts';
import { refcountCodec } from '../write/refcount-codec.ts';
import type { Layout } from './layout.ts';
import type { NewImage } from './new-image.ts';

/** What is made in memory at a time. */
const pieceBytes = 1 << 20;

export class TableWriter {
  readonly #file: BlockNode;
  readonly #signal: AbortSignal | undefined;

  constructor(file: BlockNode, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#signal = signal;
  }

  /** Every cluster that is in use has one reference. What is not written here is zero already. */
  async refcounts(image: NewImage, layout: Layout): Promise<void> {
    const { clusterSize, refcountBits } = image;
    const { refcountTable, refcountBlocks, usedClusters } = layout;
    await this.#entries(refcountTable.offset, refcountBlocks.count, 8, (view, at, i) =>
      putEntry(view, at, refcountBlocks.offset + i * clusterSize),
    );
    const codec = refcountCodec(refcountBits);
    const perPiece = (pieceBytes * 8) / refcountBits;
    let full: Uint8Array | undefined;
    for (let done = 0; done < usedClusters; done += perPiece) {
      const count = Math.min(perPiece, usedClusters - done);
      const bytes = full && count === perPiece ? full : ones(codec, count, refcountBits);
      if (count === perPiece) full = bytes;
      await this.#write(refcountBlocks.offset + (done * refcountBits) / 8, bytes);
    }
  }

  /** Every cluster of the disk is where the one before it ends. */
  async mapping(image: NewImage, { l1, l2, dataOffset }: Layout): Promise<void> {
    const { clusterSize, extendedL2, dataFileRaw } = image;
    await this.#entries(l1.offset, l1.entries, 8, (view, at, i) =>
      putEntry(view, at, l2.offset + i * clusterSize, true),
    );
    // Parts that are not there show what is behind the image: nothing is behind a raw data file but its own bytes.
    const parts = dataFileRaw ? 0xffffffff : 0;
    await this.#entries(l2.offset, l2.entries, extendedL2 ? 16 : 8, (view, at, i) => {
      putEntry(view, at, dataOffset + i * clusterSize, true);
      if (extendedL2) view.setUint32(at + 12, parts);
    });
  }

  async #entries(
    offset: number,
    count: number,
    entryBytes: number,
    put: (view: DataView, at: number, index: number) => void,
  ): Promise<void> {
    const perPiece = pieceBytes / entryBytes;
    for (let first = 0; first < count; first += perPiece) {
      const bytes = new Uint8Array(Math.min(perPiece, count - first) * entryBytes);
      const view = viewOf(bytes);
      for (let at = 0, i = first; at < bytes.length; at += entryBytes, i++) put(view, at, i);
      await this.#write(offset + first * entryBytes, bytes);
    }
  }

  async #write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#signal?.throwIfAborted();
    await this.#file.write(offset, bytes);
  }
}

function ones(codec: ReturnType<typeof refcountCodec>, count: number, bits: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((count * bits) / 8));
  const view = viewOf(bytes);
  for (let i = 0; i < count; i++) codec.set(view, i, 1);
  return bytes;
}
