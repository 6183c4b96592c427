import { readFileSync } from 'node:fs';
import type { BlockNode, SnapshotStore } from '@blockyard/core';
import fc from 'fast-check';
import type { Workspace } from './qemu.ts';

export const most = 160 * 1024;

export interface Layout {
  name: string;
  options: string;
  /** Version 2 with snapshots keeps its size. */
  resizes: boolean;
}

export const step = fc.record({
  kind: fc.constantFrom(
    'write',
    'write',
    'zero',
    'discard',
    'compress',
    'create',
    'create',
    'apply',
    'delete',
    'resize',
  ),
  /** Whether the real QEMU does it. */
  theirs: fc.boolean(),
  at: fc.nat(most - 1),
  length: fc.integer({ min: 1, max: 60_000 }),
  seed: fc.integer({ min: 1, max: 255 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One image that both change, and what it has to show. */
export class Pair {
  readonly #space: Workspace;
  readonly #layout: Layout;
  readonly #clusterSize: number;
  #disk: Buffer;
  readonly #snapshots: { id: string; name: string; disk: Buffer }[] = [];
  #made = 0;

  constructor(space: Workspace, layout: Layout, size: number) {
    this.#space = space;
    this.#layout = layout;
    this.#disk = Buffer.alloc(size);
    space.create('pair.qcow2', size, layout.options);
    this.#clusterSize = JSON.parse(space.img('info', '--output=json', 'pair.qcow2'))[
      'cluster-size'
    ] as number;
  }

  async ours<T>(work: (node: BlockNode) => Promise<T> | T): Promise<T> {
    const file = { driver: 'file', filename: this.#space.path('pair.qcow2') };
    const node = await this.#space.registry.openNode({
      driver: 'qcow2',
      readOnly: false,
      discard: 'unmap',
      file,
    });
    try {
      return await work(node);
    } finally {
      await node.close();
    }
  }

  async do(step: Step): Promise<void> {
    const at = (step.at % (this.#disk.length / 512)) * 512;
    const length = Math.min(Math.ceil(step.length / 512) * 512, this.#disk.length - at);
    switch (step.kind) {
      case 'write':
        return await this.#write(step, at, length);
      case 'zero':
        this.#disk.fill(0, at, at + length);
        if (step.theirs) return this.#io(`write -z -u ${at} ${length}`);
        return await this.ours((node) => node.writeZeroes(at, length, { mayUnmap: true }));
      case 'discard': {
        // Whole clusters, so that both read as zeroes afterwards.
        const start = Math.ceil(at / this.#clusterSize) * this.#clusterSize;
        const end = Math.floor((at + length) / this.#clusterSize) * this.#clusterSize;
        if (end <= start) return;
        this.#disk.fill(0, start, end);
        if (step.theirs) return this.#io(`discard ${start} ${end - start}`);
        return await this.ours((node) => node.discard(start, end - start));
      }
      case 'compress':
        return await this.#compress(step, at);
      case 'create':
        return await this.#create(step.theirs);
      case 'apply':
        return await this.#apply(step);
      case 'delete':
        return await this.#delete(step);
      default:
        return await this.#resize(step);
    }
  }

  async verify(): Promise<void> {
    this.#space.img('check', '-q', 'pair.qcow2');
    this.#space.img('convert', '-O', 'raw', 'pair.qcow2', 'out.raw');
    assertSame('the disk', readFileSync(this.#space.path('out.raw')), this.#disk);
    const listed = JSON.parse(this.#space.img('info', '--output=json', 'pair.qcow2')).snapshots ?? [];
    const told = listed.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`).join();
    const known = this.#snapshots.map(({ id, name }) => `${id} ${name}`).join();
    if (told !== known) throw new Error(`the snapshots are ${told} instead of ${known}`);
  }

  async verifySnapshots(): Promise<void> {
    for (const { id, name, disk } of this.#snapshots) {
      this.#space.img(
        'convert',
        '-O',
        'raw',
        '-l',
        `snapshot.id=${id},snapshot.name=${name}`,
        'pair.qcow2',
        'out.raw',
      );
      const out = readFileSync(this.#space.path('out.raw'));
      // QEMU shows a snapshot in the size that the disk has now.
      const both = Math.min(out.length, disk.length);
      assertSame(`snapshot ${id} by QEMU`, out.subarray(0, both), disk.subarray(0, both));
      const read = await this.#space.open('pair.qcow2', { snapshot: id });
      assertSame(`snapshot ${id}`, Buffer.from(await read.read(0, read.size)), disk);
      await read.close();
    }
  }

  #io(command: string): void {
    this.#space.io('pair.qcow2', [command], '-d', 'unmap');
  }

  async #write({ seed, theirs }: Step, at: number, length: number): Promise<void> {
    this.#disk.fill(seed, at, at + length);
    if (theirs) return this.#io(`write -P ${seed} ${at} ${length}`);
    await this.ours((node) => node.write(at, this.#disk.subarray(at, at + length)));
  }

  async #compress({ seed, theirs }: Step, near: number): Promise<void> {
    const at = Math.floor(near / this.#clusterSize) * this.#clusterSize;
    if (at + this.#clusterSize > this.#disk.length) return;
    try {
      if (theirs) this.#io(`write -c -P ${seed} ${at} ${this.#clusterSize}`);
      else {
        const bytes = Buffer.alloc(this.#clusterSize, seed);
        await this.ours((node) => node.write(at, bytes, { compressed: true }));
      }
    } catch (error) {
      // Over what is there already QEMU refuses to.
      if (theirs) return;
      throw error;
    }
    this.#disk.fill(seed, at, at + this.#clusterSize);
  }

  async #create(theirs: boolean): Promise<void> {
    if (this.#snapshots.length >= 5) return;
    const name = `s${++this.#made}`;
    const ids = this.#snapshots.map(({ id }) => Number(id));
    if (theirs) this.#space.img('snapshot', '-c', name, 'pair.qcow2');
    else await this.ours((node) => snapshotsOf(node).create(name));
    this.#snapshots.push({ id: String(Math.max(0, ...ids) + 1), name, disk: Buffer.from(this.#disk) });
  }

  async #apply({ at, theirs }: Step): Promise<void> {
    const chosen = this.#snapshots[at % this.#snapshots.length];
    if (!chosen) return;
    if (theirs) this.#space.img('snapshot', '-a', chosen.name, 'pair.qcow2');
    else await this.ours((node) => snapshotsOf(node).apply(chosen.id));
    this.#disk = Buffer.from(chosen.disk);
  }

  async #delete({ at, theirs }: Step): Promise<void> {
    const index = at % this.#snapshots.length;
    const chosen = this.#snapshots[index];
    if (!chosen) return;
    if (theirs) this.#space.img('snapshot', '-d', chosen.name, 'pair.qcow2');
    else await this.ours((node) => snapshotsOf(node).delete(chosen.name));
    this.#snapshots.splice(index, 1);
  }

  async #resize({ at, theirs }: Step): Promise<void> {
    if (!this.#layout.resizes) return;
    let size = Math.ceil((at + 1) / 512) * 512;
    // What QEMU cuts off within a cluster comes back when it grows the disk again.
    if (theirs) size = Math.ceil(size / this.#clusterSize) * this.#clusterSize;
    if (theirs && this.#disk.length % this.#clusterSize !== 0) return;
    if (theirs) this.#space.img('resize', '-q', '--shrink', 'pair.qcow2', String(size));
    else await this.ours((node) => node.truncate(size, { shrink: true }));
    const disk = Buffer.alloc(size);
    this.#disk.copy(disk, 0, 0, Math.min(size, this.#disk.length));
    this.#disk = disk;
  }
}

export const snapshotsOf = (node: BlockNode): SnapshotStore => node.features.snapshots as SnapshotStore;

function assertSame(what: string, found: Buffer, expected: Buffer): void {
  if (found.length !== expected.length)
    throw new Error(`${what} has ${found.length} bytes instead of ${expected.length}`);
  if (found.equals(expected)) return;
  const at = found.findIndex((byte, i) => byte !== expected[i]);
  throw new Error(`${what} has ${found[at]} instead of ${expected[at]} at ${at}`);
}
