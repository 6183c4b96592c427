import type { OptionSpecs } from '@blockyard/core';

/** Options of a new image, besides its size and `preallocation`. */
export interface Qcow2CreateOptions {
  /** Version of the format: '0.10' or 'v2', '1.1' or 'v3' (default '1.1'). */
  compat?: '0.10' | '1.1' | 'v2' | 'v3' | undefined;
  /** Bytes of a cluster, a power of two from 512 to 2 MiB (default 64 KiB; `extendedL2` needs 16 KiB or more). */
  clusterSize?: number | undefined;
  /** Width of a reference count: 1, 2, 4, 8, 16, 32 or 64 (default 16). */
  refcountBits?: number | undefined;
  lazyRefcounts?: boolean | undefined;
  /** Name of the backing image, as it is to be recorded: relative to the new image. */
  backingFile?: string | undefined;
  /** Format of the backing image; needed with `backingFile`, since it is never guessed. */
  backingFormat?: string | undefined;
  /** Name of a file of its own for the data, relative to the new image; it is made. */
  dataFile?: string | undefined;
  /** The data file stays a raw image of the disk. */
  dataFileRaw?: boolean | undefined;
  /** Clusters of 32 parts that are allocated one by one. */
  extendedL2?: boolean | undefined;
  compressionType?: 'zlib' | 'zstd' | undefined;
}

export const createOptions = {
  compat: {
    type: 'enum',
    values: ['0.10', '1.1', 'v2', 'v3'],
    help: 'version of the format: 0.10 (v2) or 1.1 (v3, default)',
  },
  clusterSize: { type: 'size', help: 'bytes of a cluster, a power of two from 512 to 2M (default 64k)' },
  refcountBits: {
    type: 'size',
    help: 'width of a reference count: 1, 2, 4, 8, 16, 32 or 64 bits (default 16)',
  },
  lazyRefcounts: { type: 'boolean', help: 'allow writers to postpone reference counts (default off)' },
  backingFile: { type: 'string', help: 'name of the backing image, relative to the new one' },
  backingFormat: { type: 'string', help: 'format of the backing image; needed with a backing image' },
  dataFile: { type: 'string', help: 'name of a file of its own for the data, relative to the image' },
  dataFileRaw: { type: 'boolean', help: 'the data file stays a raw image of the disk (default off)' },
  extendedL2: { type: 'boolean', help: 'allocate parts of clusters, 32 in each (default off)' },
  compressionType: { type: 'enum', values: ['zlib', 'zstd'], help: 'of compressed clusters (default zlib)' },
} as const satisfies OptionSpecs;
