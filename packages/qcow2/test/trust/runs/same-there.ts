import { readFileSync } from 'node:fs';
import { createRegistry } from '@blockyard/core';
import { inspect } from '../../../src/index.ts';
import { joined, type MapEntry, type Workspace } from '../../interop/qemu.ts';
import { expectSame } from '../guest/guest.ts';
import type { Kept } from '../guest/history.ts';
import { inMemory, memoryDriver } from '../machine/machine.ts';
import { fileNames } from '../setup/image.ts';
import type { Files } from './judge.ts';
import { put, qemuCheck, qemuCompare } from './real-tools.ts';

const { image } = fileNames;

/** That the real tools find an image sound that holds `disk` and `snapshots`, and that they see in it what we see. */
export async function sameThere(
  space: Workspace,
  files: Files,
  disk: Uint8Array,
  snapshots: readonly Kept[],
): Promise<void> {
  put(space, files);
  qemuCheck(space, image, true);
  qemuCompare(space, image, disk);
  sameSnapshots(space, disk, snapshots);
  await sameInformation(space, files);
  await sameMap(space);
}

export function sameSnapshots(space: Workspace, disk: Uint8Array, snapshots: readonly Kept[]): void {
  for (const { name, content } of snapshots) {
    space.img('convert', '-f', 'qcow2', '-l', `snapshot.name=${name}`, '-O', 'raw', image, 'snapshot.raw');
    // QEMU shows a snapshot at the size that the disk has now.
    const length = Math.min(disk.length, content.length);
    const found = readFileSync(space.path('snapshot.raw')).subarray(0, length);
    expectSame(found, content.subarray(0, length), 0, `${name} as qemu-img reads it`);
  }
}

async function sameInformation(space: Workspace, files: Files): Promise<void> {
  const theirs = JSON.parse(space.img('info', '-f', 'qcow2', '--output=json', image)) as Record<
    string,
    unknown
  >;
  const file = await createRegistry([memoryDriver]).openNode(inMemory(files.get(image) as Uint8Array));
  const ours = await inspect(file);
  await file.close();
  const { data } = theirs['format-specific'] as { data: unknown };
  const snapshots = (theirs.snapshots ?? []) as { id: string; name: string }[];
  expectEqual('info', [
    [ours.virtualSize, ours.clusterSize, ours.dirty, ours.backingFile, ours.backingFormat],
    [
      theirs['virtual-size'],
      theirs['cluster-size'],
      theirs['dirty-flag'],
      theirs['backing-filename'],
      theirs['backing-filename-format'],
    ],
  ]);
  expectEqual('info of the format', [sorted(ours.formatSpecific), sorted(data)]);
  expectEqual('snapshots', [
    (ours.snapshots ?? []).map(({ id, name }) => [id, name]),
    snapshots.map(({ id, name }) => [id, name]),
  ]);
}

/**
 * Whether small files look preallocated depends on the blocks of a file system: zero and data together say nothing. Nor
 * does the place of what is not there.
 */
const comparable = (entries: readonly MapEntry[]) =>
  joined(
    entries.map(({ offset, ...entry }) => ({
      ...entry,
      zero: entry.zero && !entry.data,
      ...(offset === undefined || !entry.present ? {} : { offset }),
    })),
  );

async function sameMap(space: Workspace): Promise<void> {
  const disk = await space.open(image);
  try {
    expectEqual('map', [comparable(await space.mapOf(disk)), comparable(space.map(image))]);
  } finally {
    await disk.close();
  }
}

const sorted = (value: unknown) =>
  Object.fromEntries(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));

function expectEqual(what: string, [ours, theirs]: [unknown, unknown]): void {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
  if (a !== b)
    throw new Error(`${what}: ours is ${a?.slice(0, 2000)}\nand the real one ${b?.slice(0, 2000)}`);
}
