import { readFileSync, writeFileSync } from 'node:fs';
import type { BlockDriver } from '@blockyard/core';
import { rawPosix } from '@blockyard/raw-posix';
import type { Workspace } from '../../interop/qemu.ts';
import { drawOperation } from '../guest/draw.ts';
import { Guest } from '../guest/guest.ts';
import { History, type Kept } from '../guest/history.ts';
import type { World } from '../guest/world.ts';
import { Random } from '../random.ts';
import { fileNames, image } from '../setup/image.ts';
import { qemuOptions } from '../setup/qemu-options.ts';
import type { Setup } from '../setup/setup.ts';
import type { Subject } from '../setup/subject.ts';
import { Judge } from './judge.ts';
import { RealGuest } from './real-guest.ts';
import { qemuCheck, qemuCompare, repairLeaks } from './real-tools.ts';
import { sameSnapshots } from './same-there.ts';

/** We and the real tools take turns on one image file, which the real ones have made. Returns the operations done. */
export async function turnsRun(space: Workspace, setup: Setup, seed: number, turns: number): Promise<number> {
  const subject = image(setup);
  const random = new Random(seed);
  const world = directory(space);
  if (subject.backing.length > 0) writeFileSync(space.path(fileNames.backing), subject.backing);
  space.create(fileNames.image, setup.size, qemuOptions(setup));
  let disk: Uint8Array = new Uint8Array(setup.size);
  disk.set(subject.backing.subarray(0, setup.size));
  let snapshots: readonly Kept[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const ours = turn % 2 === 0;
    const operations = Array.from({ length: perTurn }, () => drawOperation(random));
    try {
      if (ours) {
        const guest = new Guest(subject, world, disk);
        guest.history.snapshots.push(...snapshots);
        await guest.open();
        for (const operation of operations) await guest.perform(operation);
        await guest.verify();
        await guest.close();
        ({ model: disk, snapshots } = guest);
      } else {
        const real = new RealGuest(space, subject, setup, disk, snapshots);
        for (const operation of operations) real.perform(operation);
        real.end();
        ({ disk, snapshots } = real);
      }
      await inspect(space, subject, disk, ours);
    } catch (error) {
      const list = operations.map((operation) => JSON.stringify(operation)).join('\n');
      const text = `turn ${turn}, ${ours ? 'ours' : 'theirs'}: ${(error as Error).message}\n${list}`;
      throw new Error(text, { cause: error });
    }
  }
  sameSnapshots(space, disk, snapshots);
  return turns * perTurn;
}

const perTurn = 10;

/** What we leave has no leaks. What QEMU leaves may: it gives up some clusters when a snapshot fails. */
async function inspect(space: Workspace, subject: Subject, disk: Uint8Array, ours: boolean): Promise<void> {
  if (!ours) repairLeaks(space, fileNames.image);
  qemuCheck(space, fileNames.image, true);
  qemuCompare(space, fileNames.image, disk);
  const judge = new Judge(subject, new History(disk));
  await judge.check(new Map([[fileNames.image, readFileSync(space.path(fileNames.image))]]), true);
}

function directory(space: Workspace): World {
  let now = 0;
  return {
    driver: rawPosix() as unknown as BlockDriver,
    below: (name) => ({ driver: 'file', filename: space.path(name) }),
    tick: () => ++now,
  };
}
