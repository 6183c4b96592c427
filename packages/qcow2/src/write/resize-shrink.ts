import { viewOf } from '../bytes.ts';
import type { Image } from '../image.ts';
import type { L1Table } from '../l1.ts';
import { entryOffset } from '../table-entry.ts';
import { giveUpL1 } from './snapshot-tables.ts';
import type { Transition } from './transition.ts';
import { copyL1, type TransitionTables } from './transition-tables.ts';

/** The tables lose what leads beyond the new end; then the files below lose what is behind everything in use. */
export async function shrink(transition: Transition, tables: TransitionTables, size: number): Promise<void> {
  const { image, counts } = transition;
  const { clusterSize, externalData } = image.header;
  const kept = Math.ceil(size / tables.coverage);
  const l1 = copyL1(image.l1, Math.max(1, kept));
  const beyond = image.l1.nextUsed(kept, image.l1.length) < image.l1.length;
  if (beyond) await tables.countAll('the disk', image.l1, -1, () => transition.checkSignal(), kept);
  if (kept < l1.length) l1.set(kept, 0, false);
  const inLast = Math.ceil(size / clusterSize) % tables.perTable;
  const shortened = inLast > 0 && (await shorten(transition, tables, l1, kept - 1, inLast));
  const changed = beyond || shortened;
  if (changed) await giveUpL1(transition);
  const active = changed
    ? { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() }
    : undefined;
  await transition.finish({ header: { size }, l1: active }, 'request');
  // The disk has its new size: files that stay longer than they need be are no failure.
  const cut = async () => {
    const end =
      changed && counts.leavesHoles ? await moveDown(transition, tables, kept - 1, shortened) : counts.end();
    const used = (await end) * clusterSize;
    // What snapshots have is known by the refcounts alone; and those are wrong where a table is not counted.
    if (image.header.snapshotCount === 0 && used >= image.areas.end()) await cutFile(image.file, used);
    if (externalData) await cutFile(image.data, await dataEnd(image, tables, size));
  };
  await cut().catch(() => {});
}

/**
 * The new tables had to go behind everything that was in use until then. They move into what is free now, so that the
 * file can become shorter. The first cluster that is not in use then.
 */
async function moveDown(
  done: Transition,
  tables: TransitionTables,
  last: number,
  shortened: boolean,
): Promise<number> {
  const transition = done.next();
  const { image, counts } = transition;
  const l1 = copyL1(image.l1, image.l1.length);
  if (shortened) {
    const old = l1.at(last);
    l1.set(last, await transition.add('a copy of an L2 table', await tables.read(old)), true);
    await counts.change('an L2 table', old, image.header.clusterSize, -1);
  }
  await giveUpL1(transition);
  const active = { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() };
  await counts.copyBlocksOf(done.counts);
  await transition.finish({ header: {}, l1: active }, 'request');
  return await counts.end();
}

/** Takes the entries from `first` on out of a copy of the last L2 table. */
async function shorten(
  transition: Transition,
  tables: TransitionTables,
  l1: L1Table,
  index: number,
  first: number,
): Promise<boolean> {
  const { image, counts } = transition;
  const old = l1.at(index);
  if (old === 0) return false;
  const table = await tables.read(old);
  const gone = table.subarray(first * tables.entryBytes);
  if (gone.every((byte) => byte === 0)) return false;
  await tables.count('the disk', table, -1, first);
  gone.fill(0);
  await counts.change('an L2 table', old, image.header.clusterSize, -1);
  l1.set(index, await transition.add('a copy of an L2 table', table), true);
  return true;
}

/** What of the data file is still needed: it may hold clusters elsewhere than the disk does. */
async function dataEnd({ header, l1 }: Image, tables: TransitionTables, size: number): Promise<number> {
  let end = size;
  if (header.rawExternalData) return end;
  for (let i = l1.nextUsed(0, l1.length); i < l1.length; i = l1.nextUsed(i + 1, l1.length)) {
    const view = viewOf(await tables.read(l1.at(i)));
    for (let at = 0; at < view.byteLength; at += tables.entryBytes) {
      const place = entryOffset(view.getUint32(at), view.getUint32(at + 4));
      const guest = i * tables.coverage + (at / tables.entryBytes) * header.clusterSize;
      if (place !== 0 && place !== guest) end = Math.max(end, place + header.clusterSize);
    }
  }
  return end;
}

async function cutFile(file: Image['file'], size: number): Promise<void> {
  if (file.size > size && file.supports.resize) await file.truncate(size, { shrink: true });
}
