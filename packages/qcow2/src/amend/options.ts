import type { OptionSpecs } from '@blockyard/core';

/** What can be changed of an image that exists. */
export interface Qcow2AmendOptions {
  /** Version of the format. */
  compat?: '0.10' | '1.1' | 'v2' | 'v3' | undefined;
  lazyRefcounts?: boolean | undefined;
  /** Width of a reference count; every count must fit. */
  refcountBits?: number | undefined;
  /** Another name for the external data file that the image has; the file itself is not touched. */
  dataFile?: string | undefined;
  /** Only false: whether a data file is a raw image of the disk is known to who made it. */
  dataFileRaw?: boolean | undefined;
}

export const amendOptions = {
  compat: {
    type: 'enum',
    values: ['0.10', '1.1', 'v2', 'v3'],
    help: 'version of the format: 0.10 (v2) or 1.1 (v3)',
  },
  lazyRefcounts: { type: 'boolean', help: 'allow writers to postpone reference counts' },
  refcountBits: { type: 'size', help: 'width of a reference count: 1, 2, 4, 8, 16, 32 or 64 bits' },
  dataFile: { type: 'string', help: 'name of the external data file that the image has' },
  dataFileRaw: { type: 'boolean', help: 'whether the data file stays a raw image of the disk; only off' },
} as const satisfies OptionSpecs;
