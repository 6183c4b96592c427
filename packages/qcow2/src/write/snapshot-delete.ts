import type { RequestOptions } from '@blockyard/core';
import type { Image } from '../image.ts';
import type { L1Table } from '../l1.ts';
import { findEntry, readEntries } from '../snapshots.ts';
import { encodeTable } from './snapshot-table.ts';
import { giveUpL1, giveUpTable, readSnapshotL1, refuseExternalData } from './snapshot-tables.ts';
import { Transition } from './transition.ts';
import { copyL1, TransitionTables } from './transition-tables.ts';

/** Everything that the snapshot leads to has one reference less; what then is the active disk's alone says so again. */
export function deleteSnapshot(image: Image, idOrName: string, options: RequestOptions): Promise<void> {
  return Transition.run(image, options, async (transition) => {
    const { header, file } = image;
    const { counts } = transition;
    refuseExternalData(image);
    const entries = await readEntries(header, file);
    const found = findEntry(entries, idOrName, file);
    const { snapshot } = found;
    const tables = new TransitionTables(image, counts);
    const l1 = await readSnapshotL1(image, snapshot);
    await tables.countAll(`snapshot ${snapshot.id}`, l1, -1, () => transition.checkSignal());
    if (l1.length > 0)
      await counts.change(`snapshot ${snapshot.id}`, snapshot.l1TableOffset, l1.length * 8, -1);
    const active = await reclaim(transition, tables);
    const left = entries.filter((entry) => entry !== found).map(({ bytes }) => bytes);
    const snapshotsOffset =
      left.length > 0 ? await transition.add('the snapshot table', encodeTable(left, file)) : 0;
    await giveUpTable(transition, entries);
    await transition.finish(
      { header: { snapshotCount: left.length, snapshotsOffset }, l1: active },
      'snapshot',
    );
  });
}

/** An active L1 table with right flags, of L2 tables with right flags; undefined when all are right as they are. */
async function reclaim(transition: Transition, tables: TransitionTables) {
  const { image, counts } = transition;
  const { clusterSize } = image.header;
  const l1: L1Table = copyL1(image.l1, image.l1.length);
  let changed = false;
  for (let i = l1.nextUsed(0, l1.length); i < l1.length; i = l1.nextUsed(i + 1, l1.length)) {
    transition.checkSignal();
    const old = l1.at(i);
    // While a snapshot has the table too, it has all that the table leads to.
    const sole = (await counts.get(old / clusterSize)) === 1;
    let now = old;
    if (sole) {
      const table = await tables.read(old);
      if (await tables.flag(table)) {
        now = await transition.add('a copy of an L2 table', table);
        await counts.change('an L2 table', old, clusterSize, -1);
      }
    }
    if (now === old && sole === l1.isCopied(i)) continue;
    l1.set(i, now, sole);
    changed = true;
  }
  if (!changed) return undefined;
  await giveUpL1(transition);
  return { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() };
}
