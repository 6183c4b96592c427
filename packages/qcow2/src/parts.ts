import type { BlockNode } from '@blockyard/core';
import type { CompressedClusters } from './compressed.ts';
import type { Qcow2Header } from './header.ts';
import type { Image } from './image.ts';
import type { Mapping } from './mapping.ts';
import type { MetadataCache } from './metadata-cache.ts';
import type { Snapshot } from './snapshots.ts';
import type { Bitmaps } from './write/bitmap-store.ts';

/** What an open image is made of, for reading and for telling extents. */
export interface Parts {
  /** As the image was opened; what is written changes `image`'s. */
  readonly header: Qcow2Header;
  /** Bytes of the disk that is shown: a snapshot's own, else what the header said when it was opened. */
  readonly size: number;
  readonly file: BlockNode;
  /** Where guest data is: the external data file, else `file`. */
  readonly data: BlockNode;
  readonly backing: BlockNode | undefined;
  /** The snapshot that is shown. */
  readonly snapshot: Snapshot | undefined;
  readonly mapping: Mapping;
  readonly cache: MetadataCache;
  readonly compressed: CompressedClusters;
  /** What writing needs; undefined where the image is open for reading. */
  readonly image: Image | undefined;
  /** Undefined where a snapshot is shown, which has none. */
  readonly bitmaps: Bitmaps | undefined;
}
