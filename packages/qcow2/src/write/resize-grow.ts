import type { TruncateOptions } from '@blockyard/core';
import type { View } from './resize.ts';
import { EntryWriter, isEmpty } from './resize-entries.ts';
import { provide, provideData } from './resize-storage.ts';
import { type Tail, tailOf } from './resize-tail.ts';
import { giveUpL1 } from './snapshot-tables.ts';
import type { Transition } from './transition.ts';
import { copyL1, type TransitionTables } from './transition-tables.ts';

type Preallocation = NonNullable<TruncateOptions['preallocation']>;

/** Clusters of the disk, and what becomes of them. All before `first` stay as they are. */
interface Plan {
  tail: Tail | undefined;
  /** The first cluster that the disk has not had yet. */
  first: number;
  /** From `first` to here they get clusters of the file, with zeroes in them. */
  dataEnd: number;
  /** What the clusters that they get are at first. */
  assigned: 'data' | 'zero' | 'nothing';
  /** From there to here they are marked as zeroes. */
  zeroEnd: number;
  /** Where the first of those that get clusters is put: the tail, when it gets one, goes before `first`. */
  place: number;
}

/**
 * What appears is zeroes: where a longer backing file would show, that has to be said cluster by cluster, and what the
 * tables still have behind the old end, from a larger disk before or from the state of a virtual machine, has to go.
 */
export async function grow(
  transition: Transition,
  tables: TransitionTables,
  size: number,
  wanted: Preallocation,
  view: View,
): Promise<void> {
  const { image } = transition;
  const { header } = image;
  // A raw data file is to be the disk by itself: every cluster has its place in it.
  const preallocation = header.rawExternalData && wanted === 'off' ? 'metadata' : wanted;
  if (header.externalData) await provideData(image, header.size, size, preallocation);
  const plan = await makePlan(transition, tables, size, preallocation, view);
  const needed = Math.ceil(size / tables.coverage);
  const l1 = copyL1(image.l1, Math.max(needed, image.l1.length));
  let changed = l1.length > image.l1.length;
  const last = Math.max(plan.dataEnd, plan.zeroEnd, plan.first);
  const begin = Math.floor((plan.tail ? plan.first - 1 : plan.first) / tables.perTable);
  for (let i = begin; i < l1.length; i++) {
    // Behind the last cluster that gets an entry there is only what has to go.
    if (i * tables.perTable >= last) i = l1.nextUsed(i, l1.length);
    if (i >= l1.length) break;
    transition.checkSignal();
    const old = l1.at(i);
    const now = await replace(transition, tables, plan, i, old);
    if (now === old) continue;
    l1.set(i, now, now !== 0);
    changed = true;
  }
  if (changed) await giveUpL1(transition);
  const active = changed
    ? { offset: await transition.add('the active L1 table', l1.bytes()), bytes: l1.bytes() }
    : undefined;
  await transition.finish({ header: { size }, l1: active }, 'other');
}

async function makePlan(
  transition: Transition,
  tables: TransitionTables,
  size: number,
  preallocation: Preallocation,
  { backing, read }: View,
): Promise<Plan> {
  const { image, counts } = transition;
  const { header } = image;
  const { clusterSize } = header;
  const first = Math.ceil(header.size / clusterSize);
  const end = Math.ceil(size / clusterSize);
  const shown = Math.max(first, Math.min(end, Math.ceil((backing?.size ?? 0) / clusterSize)));
  // Version 2 cannot say that a cluster is zeroes.
  const dataEnd = preallocation !== 'off' ? end : header.version === 2 ? shown : first;
  const tail = await tailOf(transition, tables, preallocation !== 'off', read);
  const start = tail ? first - 1 : first;
  const clusters = dataEnd - start;
  let place = start * clusterSize;
  if (clusters > 0 && !header.externalData) {
    place = await counts.allocateAtEnd(clusters);
    await provide(transition, place, clusters * clusterSize, preallocation);
  }
  // A data file ends with the disk.
  const most = header.externalData ? size - place : clusterSize;
  if (tail) await transition.writeData(place, tail.bytes.subarray(0, most));
  const hides = preallocation === 'metadata' && header.version === 3 ? 'zero' : 'data';
  const assigned = shown > first ? hides : header.extendedL2 ? 'nothing' : 'data';
  return { tail, first, dataEnd, assigned, zeroEnd: Math.max(dataEnd, shown), place };
}

/** Where the L2 table of L1 entry `index` is afterwards: 0 for none. */
async function replace(
  transition: Transition,
  tables: TransitionTables,
  { tail, first, dataEnd, assigned, zeroEnd, place }: Plan,
  index: number,
  old: number,
): Promise<number> {
  const { image, counts } = transition;
  const { clusterSize } = image.header;
  const base = index * tables.perTable;
  const table = old === 0 ? new Uint8Array(clusterSize) : await tables.read(old);
  const from = Math.max(0, (tail ? first - 1 : first) - base);
  const gone = table.subarray(from * tables.entryBytes);
  const leftovers = !isEmpty(gone);
  if (leftovers) {
    await tables.count('the disk', table, -1, from);
    gone.fill(0);
  }
  const entries = new EntryWriter(table, image.header.extendedL2);
  const start = tail ? first - 1 : first;
  const end = Math.min(zeroEnd, base + tables.perTable);
  for (let cluster = Math.max(start, base); cluster < end; cluster++) {
    const at = place + (cluster - start) * clusterSize;
    if (cluster < first || (cluster < dataEnd && assigned === 'data')) entries.data(cluster - base, at);
    else if (cluster < dataEnd) entries.empty(cluster - base, at, assigned === 'zero');
    else entries.zero(cluster - base);
  }
  if (!leftovers && Math.max(start, base) >= end) return old;
  if (old !== 0) await counts.change('an L2 table', old, clusterSize, -1);
  return isEmpty(table) ? 0 : await transition.add('an L2 table', table);
}
