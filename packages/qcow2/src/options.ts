import type { ChildOptions, OptionSpecs } from '@blockyard/core';
import { type OverlapCheck, overlapChecks } from './metadata-areas.ts';

/** Options of the qcow2 driver, besides the common ones. */
export interface Qcow2Options {
  /** Where the image's bytes are. */
  file: ChildOptions;
  /** The backing image, instead of the one that the image names; null for none: what it would give reads as zeroes. */
  backing?: ChildOptions | null;
  /** The external data file, instead of the one that the image names. */
  dataFile?: ChildOptions;
  /** Id or name of an internal snapshot to show instead of the disk as it is now; an id goes before a name. */
  snapshot?: string;
  /** Bytes of L2 tables and refcount blocks that are kept in memory (default 32 MiB). */
  cacheSize?: number;
  /** What is looked at before each write, so that no metadata is overwritten (default 'cached'). */
  overlapCheck?: OverlapCheck;
  /** Discarded clusters keep their place in the file, so that it does not become fragmented (default false). */
  discardNoUnref?: boolean;
  /** Whether storage is given back to the file below: after discards and zeroes (default: where discards are on) ... */
  passDiscardRequest?: boolean;
  /** ... after a snapshot was deleted (default true) ... */
  passDiscardSnapshot?: boolean;
  /** ... and when a cluster is given up for another reason (default false). */
  passDiscardOther?: boolean;
}

export const optionSpecs: OptionSpecs = {
  file: { type: 'node', required: true, help: "where the image's bytes are" },
  backing: {
    type: 'node',
    nullable: true,
    help: 'the backing image, instead of the one named in the image; null for none',
  },
  dataFile: { type: 'node', help: 'the external data file, instead of the one named in the image' },
  snapshot: {
    type: 'string',
    help: 'id or name of the internal snapshot to show, read-only; an id goes before a name',
  },
  cacheSize: { type: 'size', help: 'bytes of L2 tables and refcount blocks kept in memory (default 32M)' },
  overlapCheck: {
    type: 'enum',
    values: overlapChecks,
    help: 'metadata that each write is kept from: none, constant, cached (default) or all',
  },
  discardNoUnref: {
    type: 'boolean',
    help: 'discarded clusters keep their place in the file (default false)',
  },
  passDiscardRequest: {
    type: 'boolean',
    help: 'give storage back to the file after discards (default: if discard is unmap)',
  },
  passDiscardSnapshot: {
    type: 'boolean',
    help: 'give storage back to the file when a snapshot is deleted (default true)',
  },
  passDiscardOther: {
    type: 'boolean',
    help: 'give storage back to the file whenever a cluster is given up (default false)',
  },
};
