import type { Span } from '../machine/change.ts';

/** A request that gave a range of the disk these bytes. */
export interface Effect extends Span {
  offset: number;
  bytes: Uint8Array;
  /** Durable as soon as it is acknowledged. */
  forced?: boolean;
  /** It failed: any of its bytes may have come about until then. */
  doubtful?: boolean;
}

/** A size that the disk was given. */
export interface Resizing extends Span {
  size: number;
  forced?: boolean;
  doubtful?: boolean;
}

/** An internal snapshot, from its creation to its end. */
export interface Kept {
  name: string;
  content: Uint8Array;
  created: Span;
  deleted: Span;
}

export const never: Span = { started: Number.POSITIVE_INFINITY, ended: Number.POSITIVE_INFINITY };

/** What was asked of a disk and acknowledged, and when. */
export class History {
  /** The disk when the history begins; beyond its size a disk is zero. */
  readonly before: Uint8Array;
  readonly effects: Effect[] = [];
  readonly sizes: Resizing[];
  readonly snapshots: Kept[] = [];
  readonly flushes: Span[] = [];

  constructor(before: Uint8Array) {
    this.before = before;
    this.sizes = [{ started: 0, ended: 0, size: before.length }];
  }
}
