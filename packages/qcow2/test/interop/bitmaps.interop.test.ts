import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BitmapStore, BlockNode } from '@blockyard/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interop, Workspace } from './qemu.ts';

interface Told {
  granularity: number;
  recording: boolean;
  ranges: [start: number, end: number][];
}

const bitmapsOf = (node: BlockNode): BitmapStore => node.features.bitmaps as BitmapStore;

/** One image that both change, and what both must tell of its bitmaps. */
class Pair {
  readonly #space: Workspace;
  readonly name: string;
  size: number;
  readonly clusterSize: number;
  readonly model = new Map<string, { granularity: number; recording: boolean; bits: boolean[] }>();

  constructor(space: Workspace, name: string, size: number, clusterSize: number, options = '') {
    this.#space = space;
    this.name = name;
    this.size = size;
    this.clusterSize = clusterSize;
    space.create(name, size, `cluster_size=${clusterSize}${options && `,${options}`}`);
  }

  async ours<T>(work: (node: BlockNode) => Promise<T> | T, readOnly = false): Promise<T> {
    const file = { driver: 'file', filename: this.#space.path(this.name) };
    const node = await this.#space.registry.openNode({ driver: 'qcow2', readOnly, discard: 'unmap', file });
    try {
      return await work(node);
    } finally {
      await node.close();
    }
  }

  theirs(...args: string[]): void {
    this.#space.img('bitmap', ...args.slice(0, -1), this.name, args.at(-1) as string);
  }

  async change(how: string, offset: number, length: number, theirs: boolean): Promise<void> {
    for (const { granularity, recording, bits } of this.model.values()) {
      if (recording)
        bits.fill(true, Math.floor(offset / granularity), Math.ceil((offset + length) / granularity));
    }
    if (theirs) {
      const command = { write: 'write -P 7', zero: 'write -z', discard: 'discard' }[how];
      this.#space.io(this.name, [`${command} ${offset} ${length}`], '-d', 'unmap');
      return;
    }
    await this.ours(async (node) => {
      if (how === 'write') await node.write(offset, new Uint8Array(length).fill(9));
      else if (how === 'zero') await node.writeZeroes(offset, length);
      else await node.discard(offset, length);
    });
  }

  /** What becomes new is not marked. */
  async resize(size: number, theirs: boolean): Promise<void> {
    const smaller = size < this.size;
    this.size = size;
    for (const bitmap of this.model.values()) {
      const { bits } = bitmap;
      bitmap.bits = Array.from({ length: Math.ceil(size / bitmap.granularity) }, (_, i) => bits[i] ?? false);
    }
    if (theirs) this.#space.img('resize', '-q', ...(smaller ? ['--shrink'] : []), this.name, String(size));
    else await this.ours((node) => node.truncate(size, { shrink: smaller }));
  }

  /** Both tell of all bitmaps what is expected, and find nothing wrong with the image. */
  async verify(): Promise<void> {
    const expected: Record<string, Told> = {};
    for (const [name, { granularity, recording, bits }] of this.model) {
      const ranges: Told['ranges'] = [];
      for (let at = bits.indexOf(true); at >= 0; ) {
        const stop = bits.indexOf(false, at);
        const end = stop < 0 ? bits.length : stop;
        ranges.push([at * granularity, Math.min(this.size, end * granularity)]);
        at = bits.indexOf(true, end);
      }
      expected[name] = { granularity, recording, ranges };
    }
    assert.deepEqual(await this.ours(tellOurs, true), expected);
    const information = JSON.parse(this.#space.img('info', '--output=json', this.name));
    const listed = (information['format-specific'].data.bitmaps ?? []) as {
      name: string;
      granularity: number;
      flags: string[];
    }[];
    const found: Record<string, Told> = {};
    for (const { name, granularity, flags } of listed) {
      assert.ok(flags.every((flag) => flag === 'auto'));
      found[name] = { granularity, recording: flags.includes('auto'), ranges: await this.#exported(name) };
    }
    assert.deepEqual(found, expected);
    // Exit status 0: neither errors nor leaks.
    this.#space.img('check', this.name);
  }

  /** What QEMU reads of a bitmap. Only one that does not record can be exported: a copy of the image says so. */
  async #exported(name: string): Promise<Told['ranges']> {
    const copy = this.#space.path('exported.qcow2');
    const socket = this.#space.path('socket');
    copyFileSync(this.#space.path(this.name), copy);
    this.#space.img('bitmap', '--disable', 'exported.qcow2', name);
    const server = spawn('qemu-nbd', ['-r', '-f', 'qcow2', '-B', name, '-k', socket, copy], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => server.once('exit', resolve));
    try {
      for (let i = 0; !existsSync(socket) && i < 500; i++) await sleep(10);
      const where = `driver=nbd,server.type=unix,server.path=${socket},x-dirty-bitmap=qemu:dirty-bitmap:${name}`;
      const map = JSON.parse(this.#space.img('map', '--output=json', '--image-opts', where)) as {
        start: number;
        length: number;
        data: boolean;
      }[];
      const ranges: Told['ranges'] = [];
      for (const { start, length, data } of map) {
        if (data || length === 0) continue;
        const last = ranges.at(-1);
        if (last && last[1] === start) last[1] += length;
        else ranges.push([start, start + length]);
      }
      return ranges;
    } finally {
      // It may be on its way out, where it does not always heed others.
      server.kill('SIGKILL');
      await ended;
      rmSync(socket, { force: true });
    }
  }
}

async function tellOurs(node: BlockNode): Promise<Record<string, Told>> {
  const found: Record<string, Told> = {};
  for (const { name, granularity, recording } of await bitmapsOf(node).list()) {
    const ranges: Told['ranges'] = [];
    let range = await bitmapsOf(node).nextDirty(name, 0);
    while (range) {
      const end = range.offset + range.length;
      ranges.push([range.offset, end]);
      range = await bitmapsOf(node).nextDirty(name, end);
    }
    found[name] = { granularity, recording, ranges };
  }
  return found;
}

const names = ['one', 'two', 'drei ö'];
const step = fc.record({
  kind: fc.constantFrom(
    'add',
    'add',
    'remove',
    'clear',
    'enable',
    'disable',
    'merge',
    'write',
    'write',
    'zero',
    'discard',
    'resize',
  ),
  /** Whether the real QEMU does it. */
  theirs: fc.boolean(),
  name: fc.constantFrom(...names),
  other: fc.constantFrom(...names),
  granularity: fc.constantFrom(512, 1024, 4096, 65536, 1 << 20),
  recording: fc.boolean(),
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  length: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 600_000 })),
});

async function take(
  pair: Pair,
  one: typeof step extends fc.Arbitrary<infer T> ? T : never,
): Promise<boolean> {
  const { kind, theirs, name, other, granularity, recording } = one;
  const { model, size } = pair;
  const bitmap = model.get(name);
  const both = async (ours: (store: BitmapStore) => Promise<void>, ...args: string[]) =>
    theirs ? pair.theirs(...args, name) : await pair.ours((node) => ours(bitmapsOf(node)));
  if (kind === 'add') {
    if (bitmap) return false;
    model.set(name, { granularity, recording, bits: Array(Math.ceil(size / granularity)).fill(false) });
    const args = ['--add', '-g', String(granularity), recording ? '--enable' : '--disable'];
    await both((store) => store.add(name, { granularity, recording }), ...args);
  } else if (kind === 'write' || kind === 'zero' || kind === 'discard') {
    // QEMU gives up what of a discard is no whole cluster, as we do.
    const unit = kind === 'discard' ? pair.clusterSize : 1;
    const start = Math.floor((one.at * size) / unit) * unit;
    const length = Math.min(Math.ceil(one.length / unit) * unit, size - start);
    await pair.change(kind, start, length, theirs);
  } else if (kind === 'resize') {
    const to = Math.max(512, Math.floor((one.at * 2_000_000) / 512) * 512);
    await pair.resize(to, theirs);
  } else {
    if (!bitmap) return false;
    if (kind === 'remove') {
      model.delete(name);
      await both((store) => store.remove(name), '--remove');
    } else if (kind === 'clear') {
      bitmap.bits.fill(false);
      await both((store) => store.clear(name), '--clear');
    } else if (kind === 'enable' || kind === 'disable') {
      bitmap.recording = kind === 'enable';
      await both((store) => store[kind](name), `--${kind}`);
    } else {
      const source = model.get(other);
      if (!source) return false;
      if (source !== bitmap) {
        const scale = source.granularity / bitmap.granularity;
        source.bits.forEach((bit, i) => {
          if (bit)
            bitmap.bits.fill(
              true,
              Math.floor(i * scale),
              Math.min(bitmap.bits.length, Math.ceil((i + 1) * scale)),
            );
        });
      }
      await both((store) => store.merge(name, other), '--merge', other);
    }
  }
  return true;
}

interop('bitmaps that QEMU and we change in turns', () => {
  const space = new Workspace();

  it.each([
    [512, 700_416],
    [4096, 1_000_448],
    [65536, 5_000_192],
  ])('say the same to both, with clusters of %i bytes', async (clusterSize, size) => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30, size: 'max' }), async (steps) => {
        const pair = new Pair(space, `turns-${clusterSize}-${made++}.qcow2`, size, clusterSize);
        let changes = 0;
        for (const one of steps) {
          if (await take(pair, one)) changes++;
          if (changes % 4 === 3) await pair.verify();
        }
        await pair.verify();
        rmSync(space.path(pair.name));
      }),
      { numRuns: 6 },
    );
  });
});

interop('bitmaps, where QEMU says no or something is special', () => {
  const space = new Workspace();
  const open = (name: string, readOnly = false) =>
    space.registry.openNode({
      driver: 'qcow2',
      readOnly,
      file: { driver: 'file', filename: space.path(name) },
    });
  const refused = (work: () => unknown): boolean => {
    try {
      work();
      return false;
    } catch {
      return true;
    }
  };
  const flags = (name: string) => {
    const told = JSON.parse(space.img('info', '-U', '--output=json', name));
    return (told['format-specific'].data.bitmaps ?? []) as {
      name: string;
      flags: string[];
      granularity: number;
    }[];
  };

  it('are refused by both, or by neither', async () => {
    const cases: [options: string, size: string, name: string, granularity?: number][] = [
      ['', '10M', ''],
      ['', '10M', 'n'.repeat(1023)],
      ['', '10M', 'n'.repeat(1024)],
      ['', '10M', 'ä'.repeat(512)],
      ['', '10M', 'a', 256],
      ['', '10M', 'a', 512],
      ['', '10M', 'a', 1000],
      ['', '10M', 'a', 2 ** 31],
      ['', '10M', 'a', 2 ** 32],
      ['compat=0.10', '10M', 'a'],
      ['data_file=d.raw', '10M', 'a'],
      ['data_file=d.raw,data_file_raw=on', '10M', 'a'],
      ['', '2T', 'a', 512],
      ['', '2050G', 'a', 512],
      ['', '100T', 'a', 16384],
      ['', '100T', 'a', 32768],
    ];
    for (const [options, size, name, granularity] of cases) {
      const args = granularity === undefined ? [] : ['-g', String(granularity)];
      space.create('theirs.qcow2', size, options);
      const theirs = refused(() => space.img('bitmap', '--add', ...args, 'theirs.qcow2', name));
      space.create('ours.qcow2', size, options);
      const data = options.includes('data_file')
        ? { dataFile: { driver: 'file', filename: space.path('d.raw') } }
        : {};
      const file = { driver: 'file', filename: space.path('ours.qcow2') };
      const node = await space.registry.openNode({ driver: 'qcow2', readOnly: false, file, ...data });
      const ours = await bitmapsOf(node)
        .add(name, { granularity })
        .then(
          () => false,
          () => true,
        );
      await node.close();
      expect([options, size, name, granularity, ours]).toEqual([options, size, name, granularity, theirs]);
      expect(flags('ours.qcow2')).toEqual(flags('theirs.qcow2'));
      space.img('check', 'ours.qcow2');
    }
  });

  it.each(['512', '4k', '64k', '2M'])(
    'get the same granularity with clusters of %s, when none is named',
    async (size) => {
      space.create('theirs.qcow2', '10M', `cluster_size=${size}`);
      space.create('ours.qcow2', '10M', `cluster_size=${size}`);
      space.img('bitmap', '--add', 'theirs.qcow2', 'a');
      const node = await open('ours.qcow2');
      await bitmapsOf(node).add('a');
      await node.close();
      expect(flags('ours.qcow2')).toEqual(flags('theirs.qcow2'));
    },
  );

  it('are in use for QEMU while they are, and after a crash for good', async () => {
    space.create('image.qcow2', '10M', '');
    const first = await open('image.qcow2');
    await bitmapsOf(first).add('a');
    await bitmapsOf(first).add('off', { recording: false });
    await first.close();
    const node = await open('image.qcow2');
    await node.write(0, new Uint8Array(512).fill(1));
    expect(flags('image.qcow2').map((one) => one.flags)).toEqual([['in-use', 'auto'], []]);
    copyFileSync(space.path('image.qcow2'), space.path('crashed.qcow2'));
    await node.close();
    expect(flags('image.qcow2').map((one) => one.flags)).toEqual([['auto'], []]);
    for (const what of [['--clear'], ['--enable'], ['--disable'], ['--merge', 'off']])
      expect(refused(() => space.img('bitmap', ...what, 'crashed.qcow2', 'a'))).toBe(true);
    const again = await open('crashed.qcow2');
    expect((await bitmapsOf(again).list())[0]).toMatchObject({
      name: 'a',
      inconsistent: true,
      dirtyBytes: 0,
    });
    await again.write(0, new Uint8Array(512).fill(2));
    await bitmapsOf(again).add('b');
    await again.close();
    expect(flags('crashed.qcow2').map((one) => one.flags)).toEqual([['in-use', 'auto'], [], ['auto']]);
    const last = await open('crashed.qcow2');
    await bitmapsOf(last).remove('a');
    await last.close();
    expect(flags('crashed.qcow2').map((one) => one.name)).toEqual(['off', 'b']);
    for (const name of ['image.qcow2', 'crashed.qcow2']) space.img('check', name);
  });

  it('are merged from another image by both', async () => {
    space.create('one.qcow2', '10M', '');
    space.create('other.qcow2', '10M', 'cluster_size=4k');
    space.img('bitmap', '--add', '--disable', 'one.qcow2', 'theirs');
    space.img('bitmap', '--add', '--disable', 'one.qcow2', 'ours');
    space.img('bitmap', '--add', '-g', '512', 'other.qcow2', 'a');
    space.io('other.qcow2', ['write 100k 1k', 'write 5M 300k']);
    space.img('bitmap', '--merge', 'a', '-b', 'other.qcow2', '-F', 'qcow2', 'one.qcow2', 'theirs');
    const [one, other] = [await open('one.qcow2'), await open('other.qcow2', true)];
    await bitmapsOf(one).merge('ours', 'a', other);
    await other.close();
    const told = await tellOurs(one);
    await one.close();
    expect(told.ours).toEqual(told.theirs);
    expect(told.ours?.ranges).toHaveLength(2);
    space.img('check', 'one.qcow2');
  });
});
