import type { BlockNode, MaybePromise, TruncateOptions } from '@blockyard/core';
import { badOption, notPossible, tooLarge } from '../failure.ts';
import type { Image } from '../image.ts';
import { readEntries } from '../snapshots.ts';
import { maxTableBytes } from '../tables.ts';
import { grow } from './resize-grow.ts';
import { shrink } from './resize-shrink.ts';
import { tellsDiskSize } from './snapshot-table.ts';
import { Transition } from './transition.ts';
import { TransitionTables } from './transition-tables.ts';

/** The disk as its tables show it. */
export interface View {
  readonly backing: BlockNode | undefined;
  /** What the tables show, beyond the end of the disk too, without waiting for requests or letting them wait. */
  read(offset: number, into: Uint8Array): MaybePromise<void>;
}

/** Makes the disk larger, with zeroes, or smaller. A power cut leaves it at one size or the other. */
export function resize(image: Image, size: number, options: TruncateOptions, view: View): Promise<void> {
  return Transition.run(image, options, async (transition) => {
    const { header, file } = image;
    if (size === header.size) return;
    if (size < header.size && !options.shrink) {
      const text = `shrinking from ${header.size} to ${size} bytes would cut off data; say shrink: true to mean it`;
      throw badOption(file, text);
    }
    await checkSnapshots(image);
    const tables = new TransitionTables(image, transition.counts);
    const entries = Math.ceil(size / tables.coverage);
    if (entries * 8 > maxTableBytes.l1) {
      const most = (maxTableBytes.l1 / 8) * tables.coverage;
      throw tooLarge(
        file,
        `a disk of ${size} bytes is more than clusters of ${header.clusterSize} bytes can map; the most is ${most}`,
      );
    }
    if (size > header.size) await grow(transition, tables, size, options.preallocation ?? 'off', view);
    else await shrink(transition, tables, size);
  });
}

/** A snapshot must know the size of its disk by itself. */
async function checkSnapshots({ header, file }: Image): Promise<void> {
  if (header.snapshotCount === 0) return;
  if (header.version === 2) {
    throw notPossible(
      file,
      'an image of version 2 with snapshots cannot change its size; amend it to version 3 (compat=1.1), or delete the snapshots',
    );
  }
  const silent = (await readEntries(header, file)).find((entry) => !tellsDiskSize(entry));
  if (silent) {
    throw notPossible(
      file,
      `snapshot ${silent.snapshot.id} does not record the size of its disk, which would change with this one; delete it first, or have the image repaired`,
    );
  }
}
