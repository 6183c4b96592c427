import type { BlockNode } from '@blockyard/core';
import type { CompressedClusters } from './compressed.ts';
import type { Qcow2Header } from './header.ts';
import type { L2Cache } from './l2-cache.ts';
import type { Mapping } from './mapping.ts';
import type { Snapshot } from './snapshots.ts';

/** What an open image is made of, for reading and for telling extents. */
export interface Parts {
  readonly header: Qcow2Header;
  /** Bytes of the disk that is shown: a snapshot's own, else the header's. */
  readonly size: number;
  readonly file: BlockNode;
  /** Where guest data is: the external data file, else `file`. */
  readonly data: BlockNode;
  readonly backing: BlockNode | undefined;
  /** The snapshot that is shown. */
  readonly snapshot: Snapshot | undefined;
  readonly mapping: Mapping;
  readonly cache: L2Cache;
  readonly compressed: CompressedClusters;
}
