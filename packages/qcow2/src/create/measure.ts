import type { CreateOptions, MeasuredData, MeasuredSizes } from '@blockyard/core';
import { needsOf, refcountNeeds } from './layout.ts';
import { newImage } from './new-image.ts';

/** Bytes of a new image whose L2 tables are all there, with the data that it is given and with every cluster. */
export function measure(options: CreateOptions, data: MeasuredData): MeasuredSizes {
  const image = newImage(options);
  const { clusterSize, preallocation } = image;
  const { dataClusters, l2Tables, l1Clusters } = needsOf(image, { path: '' });
  const others = 1 + l1Clusters + l2Tables + dataClusters;
  const { blocks, tableClusters } = refcountNeeds(others, image);
  const fullyAllocated = (others + blocks + tableClusters) * clusterSize;
  const reserved = preallocation === 'falloc' || preallocation === 'full';
  const allocated = data.allocated(clusterSize);
  return {
    required: reserved ? fullyAllocated : fullyAllocated - dataClusters * clusterSize + allocated,
    fullyAllocated,
    ...(data.bitmaps === undefined ? {} : { bitmaps: data.bitmaps }),
  };
}
