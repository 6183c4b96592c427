import { BlockError, type BlockNode, createRegistry, type Registry } from '@blockyard/core';
import type { Subject } from '../setup/subject.ts';
import { content } from './content.ts';
import { afterPowerCut, now } from './expectation.ts';
import { type Effect, History, type Kept, never } from './history.ts';
import { isRange, type Operation, place, type RangeOperation, scale } from './operations.ts';
import type { World } from './world.ts';

/** Uses a disk as a virtual machine would, checks every read against a plain buffer, and writes down the history. */
export class Guest {
  history: History;
  /** What the disk holds. */
  model: Uint8Array;
  /** Operations that were done, refused ones by kind. */
  done = 0;
  readonly refused = new Map<string, number>();
  readonly #subject: Subject;
  readonly #world: World;
  readonly #registry: Registry;
  #node: BlockNode | undefined;
  #unsure = false;

  constructor(subject: Subject, world: World, before?: Uint8Array) {
    this.#subject = subject;
    this.#world = world;
    this.#registry = createRegistry([world.driver, ...subject.drivers]);
    this.model = before ?? emptyDisk(subject);
    this.history = new History(this.model.slice());
  }

  get node(): BlockNode {
    if (!this.#node) throw new Error('the disk is not open');
    return this.#node;
  }

  get isOpen(): boolean {
    return this.#node !== undefined;
  }

  /** Those that are surely there. */
  get snapshots(): Kept[] {
    return this.history.snapshots.filter(({ created, deleted }) => created !== never && deleted === never);
  }

  /** Something failed, and the model waits to be made certain by `verify`. */
  get unsure(): boolean {
    return this.#unsure;
  }

  async open(): Promise<void> {
    this.#node = await this.#registry.openNode(this.#subject.tree(this.#world.below));
    if (this.#node.size !== this.model.length) {
      throw new Error(`opened with ${this.#node.size} bytes instead of ${this.model.length}`);
    }
  }

  /** Closing flushes. */
  async close(): Promise<void> {
    const started = this.#world.tick();
    const node = this.node;
    this.#node = undefined;
    await node.close();
    this.history.flushes.push({ started, ended: this.#world.tick() });
  }

  /** Where the operation goes to and from, to keep apart what must not overlap. */
  range(operation: Operation): { offset: number; length: number } | undefined {
    return isRange(operation) ? place(operation, this.model.length, this.#subject.clusterSize) : undefined;
  }

  async perform(operation: Operation): Promise<void> {
    this.done++;
    if (isRange(operation)) return await this.#performRange(operation);
    switch (operation.kind) {
      case 'flush':
        return await this.flush();
      case 'reopen':
        await this.close();
        return await this.open();
      case 'resize':
        return await this.#resize(operation);
      default:
        return await this.#performSnapshot(operation.kind, operation.which);
    }
  }

  async flush(): Promise<void> {
    const started = this.#world.tick();
    await this.node.flush();
    this.history.flushes.push({ started, ended: this.#world.tick() });
  }

  async readAll(): Promise<Uint8Array> {
    const disk = new Uint8Array(this.node.size);
    await this.node.read(0, disk);
    return disk;
  }

  /** The whole disk, against all that was done; after a failure what is there is taken over. */
  async verify(): Promise<void> {
    const disk = await this.readAll();
    now(this.history).check(disk);
    await this.#verifySnapshots();
    if (this.#unsure) {
      const moment = this.#world.tick();
      const span = { started: moment, ended: moment };
      this.history.effects.push({ ...span, offset: 0, bytes: disk.slice() });
      this.history.sizes.push({ ...span, size: disk.length });
      this.#unsure = false;
    } else expectSame(disk, this.model, 0, 'the disk');
    this.model = disk;
  }

  /** Opens the disk after it could not be closed, which leaves what a power cut may leave. */
  async recover(): Promise<void> {
    const disk = await this.#openAnyhow();
    afterPowerCut(this.history, Number.POSITIVE_INFINITY).check(disk);
    const { snapshots } = this.history;
    this.history = new History(disk.slice());
    this.history.snapshots.push(...snapshots);
    this.model = disk;
    this.#unsure = false;
    await this.#verifySnapshots();
  }

  async #openAnyhow(): Promise<Uint8Array> {
    this.#node = await this.#registry.openNode(this.#subject.tree(this.#world.below));
    return await this.readAll();
  }

  async #verifySnapshots(): Promise<void> {
    const store = this.node.features.snapshots;
    if (!store) return;
    const listed = new Set((await store.list()).map(({ name }) => name));
    for (const one of this.history.snapshots) {
      const there = listed.delete(one.name);
      const moment = { started: this.#world.tick(), ended: this.#world.tick() };
      if (one.created === never) {
        one.created = moment;
        if (!there) one.deleted = moment;
      } else if (one.deleted.ended === Number.POSITIVE_INFINITY) {
        if (one.deleted === never && !there) throw new Error(`${one.name} is lost`);
        one.deleted = there ? never : moment;
      } else if (there) throw new Error(`${one.name} was deleted, and is there`);
    }
    if (listed.size > 0) throw new Error(`nobody made the snapshots ${[...listed].join(', ')}`);
  }

  async #performRange(operation: RangeOperation): Promise<void> {
    const { kind, seed } = operation;
    const range = this.range(operation);
    if (!range) return;
    const { offset, length } = range;
    const { node } = this;
    if (kind === 'read') {
      const into = new Uint8Array(length);
      await node.read(offset, into);
      if (!this.#unsure) expectSame(into, this.model.subarray(offset, offset + length), offset, 'a read');
      return;
    }
    if (kind === 'discard') return await this.#discard(offset, length);
    if (kind === 'compressed' && !node.supports.compress) return this.#refuse(kind, undefined);
    const zero = kind === 'zero' || kind === 'unmap';
    const bytes = zero ? new Uint8Array(length) : content(seed, offset, length);
    await this.#effect({ offset, bytes, ...(kind === 'fua' ? { forced: true } : {}) }, async () => {
      if (zero) await node.writeZeroes(offset, length, { mayUnmap: kind === 'unmap', fua: seed % 16 === 0 });
      else await node.write(offset, bytes, { fua: kind === 'fua', compressed: kind === 'compressed' });
    });
  }

  /** Afterwards there are the old bytes, zeroes, or what lies behind; which, is found out once. */
  async #discard(offset: number, length: number): Promise<void> {
    const old = this.model.slice(offset, offset + length);
    const effect = { offset, bytes: new Uint8Array(length) };
    await this.#effect(effect, async () => {
      await this.node.discard(offset, length);
      await this.node.read(offset, effect.bytes);
    });
    if (this.#unsure) return;
    const { backing } = this.#subject;
    effect.bytes.forEach((byte, i) => {
      if (byte === 0 || byte === old[i] || byte === backing[offset + i]) return;
      throw new Error(`after a discard of ${length} bytes at ${offset}, byte ${offset + i} is ${byte}`);
    });
  }

  async #effect(what: Pick<Effect, 'offset' | 'bytes' | 'forced'>, work: () => Promise<void>): Promise<void> {
    const started = this.#world.tick();
    try {
      await work();
    } catch (error) {
      this.#unsure = true;
      const span = { started, ended: this.#world.tick(), doubtful: true };
      this.history.effects.push({ ...what, ...span, bytes: what.bytes.slice() });
      throw error;
    }
    this.history.effects.push({ ...what, started, ended: this.#world.tick() });
    this.model.set(what.bytes, what.offset);
  }

  async #resize({ size, preallocation }: Extract<Operation, { kind: 'resize' }>): Promise<void> {
    const from = this.model.length;
    const wanted = Math.max(1, Math.round((size / scale) * (this.#subject.size / 512) * 1.5)) * 512;
    const started = this.#world.tick();
    let doubtful = false;
    let failure: unknown;
    try {
      await this.node.truncate(wanted, {
        shrink: true,
        ...(wanted > from ? { preallocation } : {}),
      });
    } catch (error) {
      if (this.#subject.mayRefuse('resize', this.snapshots.length) && isRefusal(error))
        return this.#refuse('resize', error);
      failure = error;
      doubtful = this.#unsure = true;
    }
    const span = { started, ended: this.#world.tick(), forced: true, doubtful };
    this.history.sizes.push({ ...span, size: wanted });
    const low = Math.min(from, wanted);
    this.history.effects.push({ ...span, offset: low, bytes: new Uint8Array(Math.max(from, wanted) - low) });
    if (doubtful) throw failure;
    this.#adopt(wanted, this.model.subarray(0, low));
  }

  async #performSnapshot(kind: 'snapshot' | 'apply' | 'delete', which: number): Promise<void> {
    const store = this.node.features.snapshots;
    if (!store) return this.#refuse(kind, undefined);
    const { snapshots, history } = this;
    const started = this.#world.tick();
    if (kind === 'snapshot') {
      const name = `snapshot-${started}`;
      const kept: Kept = { name, content: this.model.slice(), created: never, deleted: never };
      try {
        await store.create(name);
      } catch (error) {
        if (this.#subject.mayRefuse('snapshot', snapshots.length) && isRefusal(error))
          return this.#refuse(kind, error);
        history.snapshots.push(kept);
        this.#unsure = true;
        throw error;
      }
      kept.created = { started, ended: this.#world.tick() };
      history.snapshots.push(kept);
      history.flushes.push(kept.created);
      return;
    }
    const one = snapshots[which % Math.max(1, snapshots.length)];
    if (!one) return;
    if (kind === 'delete') {
      one.deleted = { started, ended: Number.POSITIVE_INFINITY };
      this.#unsure = true;
      await store.delete(one.name);
      this.#unsure = false;
      one.deleted.ended = this.#world.tick();
      history.flushes.push(one.deleted);
      return;
    }
    const from = this.model.length;
    const bytes = new Uint8Array(Math.max(from, one.content.length));
    bytes.set(one.content);
    await this.#applied(started, bytes, one.content.length, () => store.apply(one.name));
    this.#adopt(one.content.length, one.content);
  }

  async #applied(started: number, bytes: Uint8Array, size: number, work: () => Promise<void>): Promise<void> {
    let doubtful = true;
    try {
      await work();
      doubtful = false;
    } finally {
      if (doubtful) this.#unsure = true;
      const span = { started, ended: this.#world.tick(), forced: true, doubtful };
      this.history.sizes.push({ ...span, size });
      this.history.effects.push({ ...span, offset: 0, bytes });
    }
  }

  #adopt(size: number, start: Uint8Array): void {
    this.model = new Uint8Array(size);
    this.model.set(start.subarray(0, size));
  }

  #refuse(kind: string, error: unknown): void {
    const why = error instanceof BlockError ? `${kind} ${error.code}` : kind;
    this.refused.set(why, (this.refused.get(why) ?? 0) + 1);
  }
}

/** What a format says when it cannot, as against when it failed. */
const isRefusal = (error: unknown): boolean =>
  error instanceof BlockError && error.kind !== 'system' && error.kind !== 'image';

function emptyDisk({ size, backing }: Subject): Uint8Array {
  const disk = new Uint8Array(size);
  disk.set(backing.subarray(0, size));
  return disk;
}

export function expectSame(found: Uint8Array, expected: Uint8Array, offset: number, what: string): void {
  if (Buffer.compare(found, expected) === 0) return;
  const at = found.findIndex((byte, i) => byte !== expected[i]);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes.subarray(at, at + 16)).toString('hex');
  throw new Error(
    `${what} of ${found.length} bytes at ${offset} differs from byte ${offset + at} on: ${hex(found)} instead of ${hex(expected)} (lengths ${found.length}, ${expected.length})`,
  );
}
