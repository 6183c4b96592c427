import type { ChildOptions, OptionSpecs } from '@blockyard/core';

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
};
