import {
  BlockError,
  type BlockNode,
  type Registry,
  type SnapshotInformation,
  type SnapshotStore,
} from '@blockyard/core';
import { inspectImage } from '../info/inspect.ts';
import { snapshotJson } from '../info/json.ts';
import { snapshotTable } from '../info/text.ts';
import { withImage } from '../open/image.ts';
import type { ImageFlags } from '../options/common.ts';
import { formatBytes } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';
import { findSnapshot } from './find.ts';

export interface SnapshotJob {
  image: string;
  flags: ImageFlags & { forceShare?: boolean };
  registry: Registry;
  terminal: Terminal;
}

export async function listSnapshots({ image, flags, registry, terminal }: SnapshotJob): Promise<void> {
  const [report] = await inspectImage(image, registry, { ...flags, backing: null }, false, terminal);
  const snapshots = report?.snapshots ?? [];
  if (terminal.json) return terminal.printJson(snapshots.map(snapshotJson));
  if (snapshots.length === 0) terminal.notice(`${image} has no snapshots`);
  else for (const line of snapshotTable(snapshots)) terminal.print(line);
}

export async function createSnapshot(job: SnapshotJob, name: string): Promise<void> {
  const made = await withSnapshots(job, async (store, _image, signal) => {
    const before = await store.list();
    const made = await store.create(name, { signal });
    const twin = before.find((other) => other.name === name);
    if (twin)
      job.terminal.notice(`the snapshot ${twin.id} has the name '${name}' too; the ids tell them apart`);
    return made;
  });
  tell(job, 'created', made);
}

export async function applySnapshot(job: SnapshotJob, which: string): Promise<void> {
  let sizes: [before: number, after: number] = [0, 0];
  const applied = await withSnapshots(job, async (store, image, signal) => {
    const found = findSnapshot(which, await store.list(), job.image, job.terminal);
    const before = image.size;
    await store.apply(found.id, { signal });
    sizes = [before, image.size];
    return found;
  });
  const [before, after] = sizes;
  const resized =
    before === after
      ? ''
      : `; the disk has ${formatBytes(after)} again, before it had ${formatBytes(before)}`;
  tell(job, 'applied', applied, resized);
}

export async function deleteSnapshot(job: SnapshotJob, which: string): Promise<void> {
  const deleted = await withSnapshots(job, async (store, _image, signal) => {
    const found = findSnapshot(which, await store.list(), job.image, job.terminal);
    await store.delete(found.id, { signal });
    return found;
  });
  tell(job, 'deleted', deleted);
}

/** No snapshot needs what is behind the image: it may be missing. */
async function withSnapshots<T>(
  { image, flags, registry, terminal }: SnapshotJob,
  work: (store: SnapshotStore, image: BlockNode, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return await withImage(image, registry, flags, terminal, { backing: null }, async (node) => {
    const { snapshots } = node.features;
    if (snapshots) return await work(snapshots, node, terminal.signal);
    const text = `snapshot of ${image}: the format ${node.driver} has no internal snapshots; convert it to qcow2 for them`;
    throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'snapshot', path: image, driver: node.driver });
  });
}

function tell(
  { image, terminal }: SnapshotJob,
  done: string,
  snapshot: SnapshotInformation,
  more = '',
): void {
  if (terminal.json) return terminal.printJson({ image, [done]: snapshotJson(snapshot) });
  const { id, name } = snapshot;
  if (!terminal.quiet) terminal.print(`snapshot ${id} '${printable(name)}' ${done}${more}`);
}
