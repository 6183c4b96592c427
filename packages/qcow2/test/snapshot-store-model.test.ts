import type { BlockNode } from '@blockyard/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { digest, Lab, type Made, snapshotsOf } from './support/transitions.ts';

const kib = 1024;
const most = 120 * kib;
const layouts: [string, Made][] = [
  ['clusters of 512 bytes', { size: 50_000, clusterSize: 512 }],
  ['clusters of 4 KiB', { size: 50_000, clusterSize: 4096 }],
  ['version 2', { size: 50_000, clusterSize: 1024, compat: 'v2' }],
  ['extended L2', { size: 50_000, clusterSize: 16384, extendedL2: true }],
  ['2-bit refcounts', { size: 50_000, clusterSize: 512, refcountBits: 2 }],
  [
    '64-bit refcounts and zstd',
    { size: 50_000, clusterSize: 512, refcountBits: 64, compressionType: 'zstd' },
  ],
  ['a backing file', { size: 50_000, clusterSize: 2048, backing: pattern(80_000, 9) }],
];

const step = fc.record({
  kind: fc.constantFrom(
    'write',
    'write',
    'zero',
    'compress',
    'create',
    'create',
    'apply',
    'delete',
    'resize',
    'reopen',
  ),
  at: fc.nat(most - 1),
  length: fc.integer({ min: 1, max: 30_000 }),
  seed: fc.integer({ min: 1, max: 255 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An image and what it has to show. */
class Model {
  readonly #made: Made;
  #disk: Uint8Array;
  readonly snapshots: { id: string; name: string; disk: Uint8Array }[] = [];

  constructor(made: Made) {
    this.#made = made;
    this.#disk = new Uint8Array(made.size);
    if (made.backing) this.#disk.set(made.backing.subarray(0, made.size));
  }

  get state() {
    return {
      disk: digest(this.#disk),
      snapshots: this.snapshots.map((one) => ({ ...one, disk: digest(one.disk) })),
    };
  }

  async do(node: BlockNode, { kind, at: place, length: wanted, seed }: Step): Promise<void> {
    const at = this.#disk.length === 0 ? 0 : place % this.#disk.length;
    const length = Math.min(wanted, this.#disk.length - at);
    const chosen = this.snapshots[place % this.snapshots.length];
    if (kind === 'write') {
      this.#disk.set(pattern(length, seed), at);
      await node.write(at, pattern(length, seed));
    } else if (kind === 'zero') {
      this.#disk.fill(0, at, at + length);
      await node.writeZeroes(at, length, { mayUnmap: seed > 128 });
    } else if (kind === 'compress') {
      const clusterSize = this.#made.clusterSize as number;
      const start = Math.floor(at / clusterSize) * clusterSize;
      if (start + clusterSize > this.#disk.length) return;
      this.#disk.fill(seed, start, start + clusterSize);
      await node.write(start, new Uint8Array(clusterSize).fill(seed), { compressed: true });
    } else if (kind === 'create') await this.#create(node, `s${place}`);
    else if (kind === 'apply' && chosen) {
      const applied = await this.#unlessFull(() =>
        snapshotsOf(node)
          .apply(chosen.id)
          .then(() => true),
      );
      if (applied) this.#disk = chosen.disk.slice();
    } else if (kind === 'delete' && chosen) {
      await snapshotsOf(node).delete(chosen.id);
      this.snapshots.splice(this.snapshots.indexOf(chosen), 1);
    } else if (kind === 'resize') await this.#resize(node, place);
  }

  async #create(node: BlockNode, name: string): Promise<void> {
    if (this.snapshots.length >= 4) return;
    const made = await this.#unlessFull(() => snapshotsOf(node).create(name));
    if (made) this.snapshots.push({ id: made.id, name, disk: this.#disk.slice() });
  }

  /** Narrow refcounts are soon at their most; then nothing is changed. */
  async #unlessFull<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.#made.refcountBits === 2 && /2-bit refcounts count/.test(String(error))) return undefined;
      throw error;
    }
  }

  async #resize(node: BlockNode, size: number): Promise<void> {
    if (this.#made.compat === 'v2' && this.snapshots.length > 0) return;
    await node.truncate(size, { shrink: true });
    const disk = new Uint8Array(size);
    disk.set(this.#disk.subarray(0, size));
    this.#disk = disk;
  }
}

describe('any sequence of writes, snapshots and changes of size', () => {
  it.each(layouts)('leaves the disk and each snapshot as they were told to be: %s', async (_name, made) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const lab = await Lab.make(made);
        const model = new Model(made);
        for (let next = 0; next < steps.length; next++) {
          await lab.open(async (node) => {
            for (; next < steps.length; next++) {
              const one = steps[next] as Step;
              if (one.kind === 'reopen') break;
              await model.do(node, one);
            }
          });
          expect(await lab.check()).toEqual({ corruptions: 0, leaks: 0, findings: [] });
          expect(await lab.state()).toEqual(model.state);
        }
      }),
      { numRuns: Number(process.env.MODEL_RUNS ?? 15) },
    );
  });
});
