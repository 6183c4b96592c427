import { type BlockNode, createRegistry, type Registry } from '@blockyard/core';
import { content } from '../guest/content.ts';
import { afterPowerCut } from '../guest/expectation.ts';
import { expectSame } from '../guest/guest.ts';
import type { History } from '../guest/history.ts';
import { inMemory, memoryDriver } from '../machine/machine.ts';
import type { Random } from '../random.ts';
import type { Subject } from '../setup/subject.ts';

export type Files = ReadonlyMap<string, Uint8Array>;

/** Another opinion on the files, such as that of the real qemu-img. */
export type Opinion = (files: Files, subject: Subject) => void | Promise<void>;

/** Says what is wrong with what a power cut left. */
export class Judge {
  readonly #subject: Subject;
  readonly #history: History;
  readonly #registry: Registry;

  constructor(subject: Subject, history: History) {
    this.#subject = subject;
    this.#history = history;
    this.#registry = createRegistry([memoryDriver, ...subject.drivers]);
  }

  /** Reading only: the files stay as they are. */
  async inspect(files: Files, moment: number): Promise<void> {
    const expectation = afterPowerCut(this.#history, moment);
    const node = await this.#open(files, { readOnly: true });
    try {
      expectation.check(await readAll(node));
      await this.#checkSnapshots(node, files, moment);
    } finally {
      await node.close();
    }
    await this.check(files);
  }

  /** Our own check: leaks are what a power cut may cost, and nothing else. */
  async check(files: Files, leaksToo = false): Promise<void> {
    const { check, image } = this.#subject;
    if (!check) return;
    const file = await this.#registry.openNode({
      ...inMemory(files.get(image) as Uint8Array),
      readOnly: true,
    });
    try {
      const { corruptions, checkErrors, leaks, findings } = await check(file);
      if (corruptions > 0 || checkErrors > 0 || (leaksToo && leaks > 0)) {
        const numbers = `${corruptions} corruptions, ${leaks} leaks, ${checkErrors} errors of the check`;
        throw new Error(`${numbers}: ${findings.slice(0, 5).join('; ')}`);
      }
    } finally {
      await file.close();
    }
  }

  /** Goes on with the image: writes everywhere, and looks again. The files are changed. */
  async goOn(files: Files, random: Random): Promise<void> {
    // A memory node keeps what it grew by to itself: it is held, and read, over the reopening.
    const held = new Map<string, BlockNode>();
    for (const [name, bytes] of files) held.set(name, await this.#registry.openNode(inMemory(bytes)));
    try {
      const tree = (options = {}) => this.#subject.tree((name) => held.get(name) as never, options);
      const node = await this.#registry.openNode(tree());
      const expected = new Uint8Array(node.size);
      try {
        await node.read(0, expected);
        for (const { offset, length } of pieces(node.size, this.#subject.clusterSize, random)) {
          const bytes = content(random.between(1, 1 << 20), offset, length);
          await node.write(offset, bytes);
          expected.set(bytes, offset);
        }
        expectSame(await readAll(node), expected, 0, 'the disk written after the power cut');
      } finally {
        await node.close();
      }
      const again = await this.#registry.openNode(tree({ readOnly: true }));
      try {
        expectSame(await readAll(again), expected, 0, 'the disk written after the power cut, opened again');
      } finally {
        await again.close();
      }
      const image = held.get(this.#subject.image) as BlockNode;
      await this.check(new Map([[this.#subject.image, await readAll(image)]]));
    } finally {
      for (const node of held.values()) await node.close();
    }
  }

  async #checkSnapshots(node: BlockNode, files: Files, moment: number): Promise<void> {
    const { snapshots } = this.#history;
    if (snapshots.length === 0) return;
    const listed = new Set(await this.#subject.snapshots?.(node.children.file as BlockNode));
    for (const { name, content: kept, created, deleted } of snapshots) {
      const must = created.ended < moment && deleted.started >= moment;
      const may = created.started < moment && deleted.ended >= moment;
      if (must && !listed.has(name)) throw new Error(`${name} is lost`);
      if (!listed.has(name)) continue;
      if (!may) throw new Error(`${name} is there, and should not be`);
      const view = await this.#open(files, { readOnly: true, snapshot: name });
      try {
        expectSame(await readAll(view), kept, 0, name);
      } finally {
        await view.close();
      }
    }
  }

  #open(files: Files, options: Record<string, unknown>): Promise<BlockNode> {
    return this.#registry.openNode(
      this.#subject.tree((name) => inMemory(files.get(name) as Uint8Array), options),
    );
  }
}

async function readAll(node: BlockNode): Promise<Uint8Array> {
  const bytes = new Uint8Array(node.size);
  await node.read(0, bytes);
  return bytes;
}

/** Pieces that cover the disk, in any order. */
function pieces(size: number, clusterSize: number, random: Random): { offset: number; length: number }[] {
  const found: { offset: number; length: number }[] = [];
  for (let offset = 0; offset < size; ) {
    const length = Math.min(size - offset, random.between(1, 3 * clusterSize));
    found.push({ offset, length });
    offset += length;
  }
  return random.shuffle(found);
}
