import type { RequestOptions } from '@blockyard/core';
import { invalid, notPossible } from '../failure.ts';
import { autoclear, hasBit } from '../features.ts';
import type { Image } from '../image.ts';
import type { L1Table } from '../l1.ts';
import { findEntry, readEntries } from '../snapshots.ts';
import { giveUpL1, readSnapshotL1, refuseExternalData } from './snapshot-tables.ts';
import { Transition } from './transition.ts';
import { copyL1, TransitionTables } from './transition-tables.ts';

/** The active L1 table becomes a copy of the snapshot's, and the disk as large as it was. */
export function applySnapshot(image: Image, idOrName: string, options: RequestOptions): Promise<void> {
  return Transition.run(image, options, async (transition) => {
    const { header, file } = image;
    refuseExternalData(image);
    const entries = await readEntries(header, file);
    const { snapshot } = findEntry(entries, idOrName, file);
    if (hasBit(header.autoclearFeatures, autoclear.bitmaps)) {
      throw notPossible(
        file,
        `its bitmaps would not tell what snapshot ${snapshot.id} changes; remove them first, or open the snapshot by itself`,
      );
    }
    const tables = new TransitionTables(image, transition.counts);
    const from = await readSnapshotL1(image, snapshot);
    const needed = Math.ceil(snapshot.diskSize / tables.coverage);
    if (from.length < needed) {
      throw invalid(
        file,
        `the L1 table of snapshot ${snapshot.id} has ${from.length} entries, and its disk of ${snapshot.diskSize} bytes needs ${needed}`,
      );
    }
    // Down before up: what both lead to need not be counted twice in between, which its refcount may not hold.
    await tables.countAll('the active L1 table', image.l1, -1, () => transition.checkSignal());
    const l1 = await adopt(from, transition, tables);
    const active = { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() };
    await giveUpL1(transition);
    await transition.finish({ header: { size: snapshot.diskSize }, l1: active }, 'snapshot');
  });
}

/** Everything that the snapshot leads to is referred to once more; the L1 table that does it. */
async function adopt(from: L1Table, transition: Transition, tables: TransitionTables): Promise<L1Table> {
  const { counts, image } = transition;
  const { clusterSize } = image.header;
  const l1 = copyL1(from, Math.max(1, from.length));
  for (let i = l1.nextUsed(0, l1.length); i < l1.length; i = l1.nextUsed(i + 1, l1.length)) {
    transition.checkSignal();
    const offset = l1.at(i);
    const table = await tables.read(offset);
    await tables.count('the snapshot', table, 1);
    // Flags in a snapshot's tables mean nothing, and other programs may leave some: the disk then has its own table.
    if (await tables.flag(table)) l1.set(i, await transition.add('a copy of an L2 table', table), true);
    else {
      await counts.change('the snapshot', offset, clusterSize, 1);
      l1.set(i, offset, false);
    }
  }
  return l1;
}
