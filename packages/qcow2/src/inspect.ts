import type { BlockNode, ImageInformation } from '@blockyard/core';
import { type Bitmap, readBitmaps } from './bitmaps.ts';
import type { Qcow2Header } from './header.ts';
import { readHeader } from './read-header.ts';
import { readSnapshots } from './snapshots.ts';

/** What the image says of itself. Opens nothing that it names, so a missing or forbidden file behind it does not matter. */
export async function inspect(file: BlockNode): Promise<ImageInformation> {
  const header = await readHeader(file);
  const snapshots = await readSnapshots(header, file);
  const bitmaps = await readBitmaps(header, file);
  return {
    format: 'qcow2',
    virtualSize: header.size,
    clusterSize: header.clusterSize,
    encrypted: header.encryption ? true : undefined,
    dirty: header.dirty,
    backingFile: header.backingFile,
    backingFormat: header.backingFormat,
    dataFile: header.dataFile,
    snapshots: snapshots.length > 0 ? snapshots.map(({ l1Size, l1TableOffset, ...told }) => told) : undefined,
    formatSpecific: formatSpecific(header, bitmaps),
  };
}

/** In the names, and for each version with the fields, of `qemu-img info --output=json`. */
function formatSpecific(header: Qcow2Header, bitmaps: readonly Bitmap[]): Record<string, unknown> {
  const encrypt = header.encryption ? { encrypt: { format: header.encryption } } : {};
  if (header.version === 2) {
    return {
      compat: '0.10',
      'compression-type': header.compressionType,
      'refcount-bits': header.refcountBits,
      ...encrypt,
    };
  }
  return {
    compat: '1.1',
    'compression-type': header.compressionType,
    'lazy-refcounts': header.lazyRefcounts,
    'refcount-bits': header.refcountBits,
    corrupt: header.corrupt,
    'extended-l2': header.extendedL2,
    ...(header.externalData ? { 'data-file': header.dataFile, 'data-file-raw': header.rawExternalData } : {}),
    ...(bitmaps.length > 0 ? { bitmaps: bitmaps.map(tellBitmap) } : {}),
    ...encrypt,
  };
}

const tellBitmap = (bitmap: Bitmap) => ({
  flags: [...(bitmap.inUse ? ['in-use'] : []), ...(bitmap.auto ? ['auto'] : [])],
  name: bitmap.name,
  granularity: bitmap.granularity,
});
