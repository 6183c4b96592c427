import { createRegistry } from '@blockyard/core';
import { expectSame, Guest } from '../guest/guest.ts';
import type { Kept } from '../guest/history.ts';
import type { Operation } from '../guest/operations.ts';
import { inMemory, Machine, memoryDriver } from '../machine/machine.ts';
import type { Subject } from '../setup/subject.ts';
import { type Files, Judge } from './judge.ts';

export interface ModelResult {
  done: number;
  refused: ReadonlyMap<string, number>;
  files: Files;
}

/** Does the operations one after the other, with every byte compared, and looks at the image that is left. */
export async function modelRun(
  subject: Subject,
  operations: readonly Operation[],
  opinion?: (files: Files, disk: Uint8Array, snapshots: readonly Kept[]) => void | Promise<void>,
): Promise<ModelResult> {
  const machine = new Machine(1, { turns: 0, recording: false });
  await subject.make(machine);
  const guest = new Guest(subject, machine);
  await guest.open();
  for (const [i, operation] of operations.entries()) {
    try {
      await guest.perform(operation);
    } catch (error) {
      throw new Error(`operation ${i}, ${JSON.stringify(operation)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  await guest.verify();
  await guest.close();
  const files = new Map([...machine.files].map(([name, file]) => [name, file.live.copy()]));
  await new Judge(subject, guest.history).check(files, true);
  await checkReopened(subject, guest, files);
  await opinion?.(files, guest.model, guest.snapshots);
  return { done: guest.done, refused: guest.refused, files };
}

async function checkReopened(subject: Subject, guest: Guest, files: Files): Promise<void> {
  const registry = createRegistry([memoryDriver, ...subject.drivers]);
  const views = [{ name: 'the disk, opened again', content: guest.model, options: {} }];
  for (const { name, content } of guest.snapshots) views.push({ name, content, options: { snapshot: name } });
  for (const { name, content, options } of views) {
    const tree = subject.tree((file) => inMemory(files.get(file) as Uint8Array), {
      readOnly: true,
      ...options,
    });
    const node = await registry.openNode(tree);
    try {
      const found = new Uint8Array(node.size);
      await node.read(0, found);
      expectSame(found, content, 0, name);
    } finally {
      await node.close();
    }
  }
}
