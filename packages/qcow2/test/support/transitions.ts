import { createHash } from 'node:crypto';
import {
  type BlockDriver,
  BlockError,
  type BlockNode,
  createRegistry,
  memory,
  type SnapshotStore,
} from '@blockyard/core';
import { qcow2 } from '../../src/index.ts';
import { Machine, RecordedFile } from '../trust/machine/machine.ts';
import { PowerCuts } from '../trust/machine/power-cut.ts';
import { Random } from '../trust/random.ts';

export interface Made {
  size: number;
  /** What the backing file holds. */
  backing?: Uint8Array;
  [option: string]: unknown;
}

const driver = qcow2();
const drivers = [memory(), driver] as unknown as BlockDriver[];
const names = { image: 'disk', data: 'disk.data', backing: 'base' } as const;

export type Files = ReadonlyMap<string, Uint8Array>;

/** All that an image shows, with digests of what the disks hold. */
interface State {
  disk: string;
  snapshots: { id: string; name: string; disk: string }[];
}

export const digest = (bytes: Uint8Array): string =>
  `${bytes.length} bytes, ${createHash('sha1').update(bytes).digest('hex').slice(0, 12)}`;

/** An image in files that remember every change. */
export class Lab {
  readonly machine: Machine;
  readonly #made: Made;
  #honest = true;

  private constructor(made: Made) {
    this.#made = made;
    this.machine = new Machine(1, { turns: 0, honest: () => this.#honest });
  }

  static async make(made: Made): Promise<Lab> {
    const lab = new Lab(made);
    const { backing, ...options } = made;
    const registry = createRegistry([lab.machine.driver as never, ...drivers]);
    if (backing) {
      const file = new RecordedFile();
      file.live.put(0, backing);
      lab.machine.files.set(names.backing, file);
    }
    const named = backing ? { backingFile: names.backing, backingFormat: 'raw' } : {};
    await registry.create(
      { driver: 'recorded', name: names.image },
      {
        format: 'qcow2',
        ...options,
        ...named,
        ...(options.dataFileRaw === undefined ? {} : { dataFile: names.data }),
      },
    );
    return lab;
  }

  /** Opens the image for writing, and closes it afterwards. */
  async open<T>(
    work: (node: BlockNode) => Promise<T> | T,
    options: Record<string, unknown> = {},
  ): Promise<T> {
    const registry = createRegistry([this.machine.driver as never, ...drivers]);
    const recorded = (name: string) => ({ driver: 'recorded', name });
    const node = await registry.openNode({
      ...{ driver: 'qcow2', readOnly: false, file: recorded(names.image), discard: 'unmap', ...options },
      ...(this.#made.backing ? { backing: { driver: 'raw', file: recorded(names.backing) } } : {}),
      ...(this.#made.dataFileRaw === undefined ? {} : { dataFile: recorded(names.data) }),
    });
    try {
      return await work(node);
    } finally {
      await node.close();
    }
  }

  get files(): Files {
    return new Map([...this.machine.files].map(([name, file]) => [name, file.live.copy()]));
  }

  get image(): Uint8Array {
    return this.files.get(names.image) as Uint8Array;
  }

  /** The number of errors and of leaks. */
  async check(
    files: Files = this.files,
  ): Promise<{ corruptions: number; leaks: number; findings: readonly string[] }> {
    const registry = createRegistry(drivers);
    const file = await registry.openNode({ driver: 'memory', data: files.get(names.image) });
    try {
      const found = await driver.check?.(file);
      if (!found) throw new Error('there is no check');
      return {
        corruptions: found.corruptions + found.checkErrors,
        leaks: found.leaks,
        findings: found.findings,
      };
    } finally {
      await file.close();
    }
  }

  /** What the disk holds, or held when a snapshot was taken. */
  async read(snapshot?: string, files: Files = this.files): Promise<Uint8Array> {
    const inMemory = (name: string) => ({ driver: 'memory', data: files.get(name) });
    await using disk = await createRegistry(drivers).open({
      ...{ driver: 'qcow2', readOnly: true, file: inMemory(names.image) },
      ...(snapshot === undefined ? {} : { snapshot }),
      ...(this.#made.backing ? { backing: { driver: 'raw', file: inMemory(names.backing) } } : {}),
      ...(this.#made.dataFileRaw === undefined ? {} : { dataFile: inMemory(names.data) }),
    });
    return await disk.read(0, disk.size);
  }

  async state(files: Files = this.files): Promise<State> {
    const file = { driver: 'memory', data: files.get(names.image) };
    const told = await createRegistry(drivers).inspect({ driver: 'qcow2', file });
    const snapshots: State['snapshots'] = [];
    for (const { id, name } of told.snapshots ?? [])
      snapshots.push({ id, name, disk: digest(await this.read(id, files)) });
    return { disk: digest(await this.read(undefined, files)), snapshots };
  }

  /**
   * Records `work`, and looks at what a power cut at each moment of it leaves, several times: one of two states.
   * @throws the first that is neither, or damaged
   */
  async cut(work: (node: BlockNode) => Promise<unknown> | unknown, draws = 3): Promise<number> {
    const before = JSON.stringify(await this.state());
    this.machine.settle();
    const began = this.machine.tick();
    await this.open(work);
    const ended = this.machine.tick() + 1;
    const after = JSON.stringify(await this.state());
    const cuts = new PowerCuts(this.machine);
    const random = new Random(ended);
    for (let moment = began; moment <= ended; moment++) {
      for (let draw = 0; draw < draws; draw++) {
        const files = cuts.at(moment, random);
        const { corruptions, findings } = await this.check(files);
        const where = `power cut at ${moment} of ${began}..${ended}, draw ${draw}`;
        if (corruptions > 0) throw new Error(`${where}: ${findings.join('; ')}`);
        const left = JSON.stringify(await this.state(files));
        if (left !== before && left !== after)
          throw new Error(`${where}: ${left} is neither ${before} nor ${after}`);
      }
    }
    return ended - began;
  }

  /** From now on flushes of the files do nothing. */
  lie(): void {
    this.#honest = false;
  }

  /**
   * Lets each request of `work` fail in turn, once and with all after it, until none is left. When the fault has ended
   * `more` has to work, and what was told to have failed is as it was.
   */
  async fail(
    work: (node: BlockNode) => Promise<unknown>,
    more: (node: BlockNode) => Promise<unknown>,
  ): Promise<void> {
    const start = this.files;
    const { snapshots } = await this.state();
    for (let count = 1; ; count++) {
      let failed = false;
      for (const goesOn of [false, true]) {
        for (const [name, bytes] of start) {
          const file = new RecordedFile();
          file.live.put(0, bytes.slice());
          this.machine.files.set(name, file);
        }
        failed = await this.#failAt(count, goesOn, JSON.stringify(snapshots), work, more);
        const { corruptions, findings } = await this.check();
        if (corruptions > 0) throw new Error(`fault at request ${count}: ${findings.join('; ')}`);
      }
      if (!failed) return;
    }
  }

  async #failAt(
    count: number,
    goesOn: boolean,
    before: string,
    work: (node: BlockNode) => Promise<unknown>,
    more: (node: BlockNode) => Promise<unknown>,
  ): Promise<boolean> {
    let seen = 0;
    let failed = false;
    const undone = await this.open(async (node) => {
      const { size } = node;
      this.machine.fault = () => {
        seen++;
        if (seen < count || (!goesOn && seen > count)) return;
        failed = true;
        throw new BlockError('EIO', 'a fault');
      };
      const told = await work(node).then(
        () => false,
        () => true,
      );
      this.machine.fault = undefined;
      if (told && node.size !== size)
        throw new Error(`fault at request ${count}: told to have failed, and has another size`);
      await more(node);
      return told;
    });
    if (undone && JSON.stringify((await this.state()).snapshots) !== before)
      throw new Error(`fault at request ${count}: told to have failed, and the snapshots are others`);
    return failed;
  }
}

export const snapshotsOf = (node: BlockNode): SnapshotStore => node.features.snapshots as SnapshotStore;
