import { createRegistry } from '@blockyard/core';
import { expectSame, Guest } from '../guest/guest.ts';
import { doSeveral } from '../guest/several.ts';
import { inMemory, Machine, memoryDriver } from '../machine/machine.ts';
import { PowerCuts } from '../machine/power-cut.ts';
import { Random } from '../random.ts';
import type { Subject } from '../setup/subject.ts';
import { type Files, Judge } from './judge.ts';

/**
 * Leaves an image as a program with lazy refcounts does that was killed, opens it for writing, which repairs it, and cuts
 * the power during that: what is left must show the same, be repaired the next time, and be sound where it says so.
 */
export async function repairRun(
  subject: Subject,
  { seed, points }: { seed: number; points: number },
): Promise<number> {
  const random = new Random(seed);
  const machine = new Machine(seed);
  await subject.make(machine);
  const guest = new Guest(subject, machine);
  await guest.open();
  await doSeveral(guest, random, 30, 4);
  await guest.close();
  const image = machine.file(subject.image);
  forgetCounts(image.live.view(), random);
  machine.settle();
  const began = machine.tick();
  const { history, model } = guest;
  await guest.open();
  await guest.verify();
  await guest.close();
  const ended = machine.tick();
  const judge = new Judge(subject, history);
  const cuts = new PowerCuts(machine);
  const moments = Array.from({ length: points }, () => random.between(began, ended)).sort((a, b) => a - b);
  for (const moment of moments) {
    const files = cuts.at(moment, random);
    try {
      await shows(subject, files, model);
      const bytes = files.get(subject.image) as Uint8Array;
      if (!isDirty(bytes)) await judge.check(files);
      const repaired = await repair(subject, bytes);
      await judge.check(new Map([...files, [subject.image, repaired]]), true);
      await shows(subject, new Map([...files, [subject.image, repaired]]), model);
    } catch (error) {
      const text = `power cut at ${moment} of ${began}..${ended} of a repair: ${(error as Error).message}`;
      throw new Error(`${text}\nseed ${seed}: ${subject.name}`, { cause: error });
    }
  }
  return points;
}

const dirtyAt = 79;

export const isDirty = (image: Uint8Array): boolean => ((image[dirtyAt] as number) & 1) === 1;

/** Sets the dirty bit, and some refcounts to zero that nobody wrote yet. */
function forgetCounts(image: Uint8Array, random: Random): void {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const clusterSize = 2 ** view.getUint32(20);
  image[dirtyAt] = (image[dirtyAt] as number) | 1;
  const table = Number(view.getBigUint64(48));
  const entries = (view.getUint32(56) * clusterSize) / 8;
  for (let i = 0; i < entries; i++) {
    const block = Number(view.getBigUint64(table + i * 8));
    if (block === 0) continue;
    const start = random.below(16);
    image.fill(0, block + start, Math.min(image.length, block + start + random.between(1, 64)));
  }
}

async function repair(subject: Subject, bytes: Uint8Array): Promise<Uint8Array> {
  const registry = createRegistry([memoryDriver, ...subject.drivers]);
  const file = await registry.openNode(inMemory(bytes.slice()));
  try {
    await subject.check?.(file, 'all');
    const repaired = new Uint8Array(file.size);
    await file.read(0, repaired);
    return repaired;
  } finally {
    await file.close();
  }
}

async function shows(subject: Subject, files: Files, disk: Uint8Array): Promise<void> {
  const registry = createRegistry([memoryDriver, ...subject.drivers]);
  const tree = subject.tree((name) => inMemory(files.get(name) as Uint8Array), { readOnly: true });
  const node = await registry.openNode(tree);
  try {
    const found = new Uint8Array(node.size);
    await node.read(0, found);
    expectSame(found, disk, 0, 'the disk');
  } finally {
    await node.close();
  }
}
