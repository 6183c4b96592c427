import type { SnapshotCreation } from '@blockyard/core';
import { badOption } from '../failure.ts';
import type { Image } from '../image.ts';
import type { L1Table } from '../l1.ts';
import { readEntries, type Snapshot } from '../snapshots.ts';
import { checkName, encodeSnapshot, encodeTable, nextId } from './snapshot-table.ts';
import { giveUpL1, giveUpTable, refuseExternalData } from './snapshot-tables.ts';
import { Transition } from './transition.ts';
import { copyL1, TransitionTables } from './transition-tables.ts';

/**
 * A snapshot is a copy of the L1 table: from then on both lead to the same L2 tables, and everything below has one
 * reference more. An L2 table that says of a cluster that nobody else has it is replaced, in both, by one that does not.
 */
export function createSnapshot(image: Image, name: string, options: SnapshotCreation): Promise<Snapshot> {
  checkName(name, image.file);
  const date = (options.date ?? new Date()).getTime();
  if (!(date >= 0 && date < 2 ** 32 * 1000))
    throw badOption(image.file, 'the date of a snapshot lies from 1970 to the year 2106');
  return Transition.run(image, options, async (transition) => {
    const { header, file } = image;
    refuseExternalData(image);
    const entries = await readEntries(header, file);
    const l1 = await share(image, transition);
    const snapshot: Snapshot = {
      id: nextId(entries.map((entry) => entry.snapshot)),
      name,
      l1TableOffset: await transition.add("a snapshot's L1 table", l1.bytes()),
      l1Size: l1.length,
      dateSec: Math.floor(date / 1000),
      dateNsec: (date % 1000) * 1_000_000,
      vmClockNsec: 0,
      vmStateSize: 0,
      diskSize: header.size,
      icount: 0,
    };
    const table = encodeTable([...entries.map(({ bytes }) => bytes), encodeSnapshot(snapshot)], file);
    const change = {
      snapshotCount: entries.length + 1,
      snapshotsOffset: await transition.add('the snapshot table', table),
    };
    const active = { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() };
    await giveUpTable(transition, entries);
    await giveUpL1(transition);
    await transition.finish({ header: change, l1: active }, 'other');
    return snapshot;
  });
}

/** Everything that the active L1 table leads to is referred to once more; that table, as both will have it. */
async function share(image: Image, transition: Transition): Promise<L1Table> {
  const { counts } = transition;
  const { clusterSize } = image.header;
  const tables = new TransitionTables(image, counts);
  // A snapshot without an L1 table would be taken for a damaged one.
  const l1 = copyL1(image.l1, Math.max(1, image.l1.length));
  for (let i = l1.nextUsed(0, l1.length); i < l1.length; i = l1.nextUsed(i + 1, l1.length)) {
    transition.checkSignal();
    const old = l1.at(i);
    const table = await tables.read(old);
    await tables.count('the snapshot', table, 1);
    let now = old;
    if (await tables.flag(table)) {
      now = await transition.add('a copy of an L2 table', table);
      await counts.change('an L2 table', old, clusterSize, -1);
    }
    await counts.change('the snapshot', now, clusterSize, 1);
    l1.set(i, now, false);
  }
  return l1;
}
