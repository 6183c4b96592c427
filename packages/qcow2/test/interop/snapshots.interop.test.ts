import { readFileSync } from 'node:fs';
import type { BlockNode, SnapshotStore } from '@blockyard/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interop, Workspace } from './qemu.ts';

const most = 160 * 1024;

interface Layout {
  name: string;
  options: string;
  /** Version 2 with snapshots keeps its size. */
  resizes: boolean;
}

const layouts: Layout[] = [
  { name: 'clusters of 512 bytes', options: 'cluster_size=512', resizes: true },
  { name: 'clusters of 4 KiB', options: 'cluster_size=4k', resizes: true },
  { name: 'clusters of 64 KiB', options: '', resizes: true },
  { name: 'version 2', options: 'compat=0.10,cluster_size=1k', resizes: false },
  { name: 'extended L2', options: 'extended_l2=on,cluster_size=16k', resizes: true },
  { name: '8-bit refcounts', options: 'refcount_bits=8,cluster_size=512', resizes: true },
  { name: '64-bit refcounts and zstd', options: 'refcount_bits=64,compression_type=zstd,cluster_size=2k', resizes: true },
];

const step = fc.record({
  kind: fc.constantFrom('write', 'write', 'zero', 'discard', 'compress', 'create', 'create', 'apply', 'delete', 'resize'),
  /** Whether the real QEMU does it. */
  theirs: fc.boolean(),
  at: fc.nat(most - 1),
  length: fc.integer({ min: 1, max: 60_000 }),
  seed: fc.integer({ min: 1, max: 255 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One image that both change, and what it has to show. */
class Pair {
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
    this.#clusterSize = JSON.parse(space.img('info', '--output=json', 'pair.qcow2'))['cluster-size'] as number;
  }

  async ours<T>(work: (node: BlockNode) => Promise<T> | T): Promise<T> {
    const file = { driver: 'file', filename: this.#space.path('pair.qcow2') };
    const node = await this.#space.registry.openNode({ driver: 'qcow2', readOnly: false, discard: 'unmap', file });
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
    expect(firstDifference(readFileSync(this.#space.path('out.raw')), this.#disk)).toBe(-1);
    const listed = JSON.parse(this.#space.img('info', '--output=json', 'pair.qcow2')).snapshots ?? [];
    expect(listed.map((one: { id: string; name: string }) => [one.id, one.name])).toEqual(
      this.#snapshots.map(({ id, name }) => [id, name]),
    );
  }

  async verifySnapshots(): Promise<void> {
    for (const { id, name, disk } of this.#snapshots) {
      this.#space.img('convert', '-O', 'raw', '-l', `snapshot.id=${id},snapshot.name=${name}`, 'pair.qcow2', 'out.raw');
      const out = readFileSync(this.#space.path('out.raw'));
      // QEMU shows a snapshot in the size that the disk has now.
      const both = Math.min(out.length, disk.length);
      expect(firstDifference(out.subarray(0, both), disk.subarray(0, both))).toBe(-1);
      const read = await this.#space.open('pair.qcow2', { snapshot: id });
      expect(firstDifference(Buffer.from(await read.read(0, read.size)), disk)).toBe(-1);
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

const snapshotsOf = (node: BlockNode): SnapshotStore => node.features.snapshots as SnapshotStore;

function firstDifference(a: Buffer, b: Buffer): number {
  if (a.equals(b)) return -1;
  if (a.length !== b.length) return Math.min(a.length, b.length);
  return a.findIndex((byte, i) => byte !== b[i]);
}

interop('internal snapshots', () => {
  const space = new Workspace();

  it.each(layouts)('of QEMU and of ours go through each other’s hands: $name', { timeout: 600_000 }, async (layout) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: most / 512 }),
        fc.array(step, { minLength: 1, maxLength: 14 }),
        async (sectors, steps) => {
          const pair = new Pair(space, layout, sectors * 512);
          for (const step of steps) {
            await pair.do(step);
            await pair.verify();
          }
          await pair.verifySnapshots();
        },
      ),
      { numRuns: Number(process.env.INTEROP_RUNS ?? 4) },
    );
  });
});
