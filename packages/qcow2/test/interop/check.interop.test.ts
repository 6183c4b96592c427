import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { CheckResult } from '@blockyard/core';
import { images, unpack } from '@blockyard/test-images';
import { describe, expect, test } from 'vitest';
import { checkImage } from '../../src/check/check-image.ts';
import { copied, Damage } from '../support/damage.ts';
import { ImageBuilder } from '../support/image-builder.ts';
import { inMemory, registry } from '../support/open.ts';
import { expectKept, readable } from '../support/readable.ts';
import { interop, Workspace } from './qemu.ts';

type Numbers = Omit<CheckResult, 'findings' | 'corruptionsFixed' | 'leaksFixed'>;

const exitCode = ({ corruptions, leaks, checkErrors }: Numbers): number =>
  checkErrors > 0 ? 1 : corruptions > 0 ? 2 : leaks > 0 ? 3 : 0;

/** Ours, of bytes in memory; with `repair` also what the bytes have become. */
async function ours(image: Uint8Array, repair?: 'leaks' | 'all') {
  const file = await registry.openNode(inMemory(image.slice()));
  try {
    const { findings, corruptionsFixed, leaksFixed, ...numbers } = await checkImage(file, { repair });
    const bytes = new Uint8Array(file.size);
    await file.read(0, bytes);
    return { numbers, findings, corruptionsFixed, leaksFixed, bytes };
  } finally {
    await file.close();
  }
}

interop('check against qemu-img', () => {
  const space = new Workspace();

  function theirs(
    image: Uint8Array,
    repair?: 'leaks' | 'all',
  ): { code: number; numbers: Numbers | undefined } {
    const path = space.path('checked.qcow2');
    writeFileSync(path, image);
    return theirsOf(path, repair);
  }

  function theirsOf(path: string, repair?: 'leaks' | 'all'): { code: number; numbers: Numbers | undefined } {
    const args = ['check', '-f', 'qcow2', '--output=json', ...(repair ? ['-r', repair] : []), path];
    const done = spawnSync('qemu-img', args, { cwd: space.directory, encoding: 'utf8', maxBuffer: 1 << 28 });
    const code = done.status ?? -1;
    if (!done.stdout.startsWith('{')) return { code, numbers: undefined };
    const told = JSON.parse(done.stdout) as Record<string, number>;
    const of = (name: string) => told[name] ?? 0;
    const numbers = {
      corruptions: of('corruptions'),
      leaks: of('leaks'),
      checkErrors: of('check-errors'),
      imageEndOffset: of('image-end-offset'),
      totalClusters: of('total-clusters'),
      allocatedClusters: of('allocated-clusters'),
      fragmentedClusters: of('fragmented-clusters'),
      compressedClusters: of('compressed-clusters'),
    };
    return { code, numbers };
  }

  function made(options: string, commands: readonly string[], snapshots = 0): Uint8Array {
    space.img('create', '-q', '-f', 'qcow2', ...(options ? ['-o', options] : []), 'made.qcow2', '64M');
    space.io('made.qcow2', commands);
    for (let i = 0; i < snapshots; i++) {
      space.img('snapshot', '-c', `s${i}`, 'made.qcow2');
      space.io('made.qcow2', [`write -P ${i + 9} 128k 64k`]);
    }
    return new Uint8Array(readFileSync(space.path('made.qcow2')));
  }

  const plain = ['write -P 1 0 256k', 'write -P 2 1M 64k'];
  const bases = {
    plain: () => made('', plain),
    v2: () => made('compat=0.10', plain),
    mixed: () =>
      made('', [
        'write -P 1 0 256k',
        'write -z 64k 64k',
        'write -c -P 5 1M 64k',
        'write -P 3 512k 64k',
        'write -c -P 6 1216k 64k',
        'write -P 4 1280k 64k',
      ]),
    compressed: () => made('', ['write -c -P 1 0 64k', 'write -c -P 3 64k 64k', 'write 1M 64k']),
    extended: () => made('extended_l2=on', [...plain, 'write -P 7 2M 2k', 'write -c -P 8 3M 64k']),
    external: () => made('data_file=data.raw', plain),
    snapshots: () => made('', plain, 2),
    narrow: () => made('refcount_bits=1', plain),
    bits2: () => made('refcount_bits=2', plain, 1),
    wide: () => made('refcount_bits=64', plain),
    small: () => made('cluster_size=512', plain, 1),
    large: () => made('cluster_size=2M', plain, 1),
  };
  type Base = keyof typeof bases;
  const cache = new Map<Base, Uint8Array>();
  const base = (name: Base): Uint8Array => {
    const found = cache.get(name) ?? bases[name]();
    cache.set(name, found);
    return found;
  };

  describe('sound images', () => {
    test.each(Object.keys(bases) as Base[])('%s', async (name) => {
      const { numbers, findings } = await ours(base(name));
      expect(findings).toEqual([]);
      expect(numbers).toEqual(theirs(base(name)).numbers);
    });
  });

  describe('the test images', () => {
    const qcow2 = images().filter(({ format, tags }) => format === 'qcow2' && !tags.includes('encrypted'));
    test.each(qcow2.map((image) => [image.name, image] as const))('%s', async (_name, image) => {
      const path = unpack(image, space.directory);
      const file = await space.registry.openNode({ driver: 'file', filename: path, readOnly: true });
      const result = await checkImage(file);
      await file.close();
      expect(result, result.findings.join('\n')).toMatchObject(
        theirsOf(path).numbers ?? { image: 'not checked' },
      );
    });
  });

  describe.each(['plain', 'snapshots', 'bits2', 'wide', 'small', 'large'] as const)(
    'refcounts of %s',
    (name) => {
      test.each([1, -1])('each changed by %d', async (by) => {
        const image = base(name);
        const last = Math.min(16, Math.floor(image.length / new Damage(image).clusterSize));
        for (let cluster = 0; cluster < last; cluster++) {
          const damage = new Damage(image);
          const before = (await refcountsOf(damage))(cluster);
          if (before + by < 0 || before + by > 3) continue;
          damage.refcount(cluster, before + by);
          const { numbers, findings } = await ours(damage.bytes);
          expect(numbers, `cluster ${cluster}: ${findings}`).toEqual(theirs(damage.bytes).numbers);
          for (const repair of ['leaks', 'all'] as const) {
            const repaired = await ours(damage.bytes, repair);
            if (repair === 'leaks' && by < 0) continue;
            expect(exitCode(repaired.numbers), `${repair} cluster ${cluster}: ${repaired.findings}`).toBe(0);
            expect(theirs(repaired.bytes).code, `qemu after ${repair} of cluster ${cluster}`).toBe(0);
            expectSame(repaired.bytes, image);
          }
        }
      });
    },
  );

  /** How many entries are said to lead into a table. */
  function overlapsIn(findings: readonly string[]): number {
    return findings.reduce(
      (sum, text) => sum + Number(/^cluster \d+ holds .*, and (\d+) entr/.exec(text)?.[1] ?? 0),
      0,
    );
  }

  async function refcountsOf(damage: Damage): Promise<(cluster: number) => number> {
    const bits = 2 ** (damage.view.getUint32(4) === 2 ? 4 : damage.view.getUint32(96));
    const { refcountCodec } = await import('../../src/write/refcount-codec.ts');
    const view = new DataView(damage.bytes.buffer, damage.block, damage.clusterSize);
    return (cluster) => refcountCodec(bits).get(view, cluster);
  }

  function expectSame(image: Uint8Array, original: Uint8Array): void {
    writeFileSync(space.path('same-a.qcow2'), image);
    writeFileSync(space.path('same-b.qcow2'), original);
    space.img('compare', '-q', 'same-a.qcow2', 'same-b.qcow2');
  }

  interface Variant {
    name: string;
    of?: Base;
    damage: (damage: Damage) => void;
    /** Numbers that differ from qemu's, on purpose; undefined when qemu does not complete its check. */
    differs?: Partial<Numbers>;
    /**
     * Entries that lead into a table. To qemu only the refcount is wrong, which it raises, and reads the table as data;
     * here reading such an entry is an error, and so it is a corruption that stays.
     */
    overlaps?: number;
    /** Exit code after our repair; else that of qemu after its own. */
    after?: { leaks?: number; all?: number };
    /** The disk does not read as before, whatever is done. */
    lost?: true;
  }

  const variants: Variant[] = [
    { name: 'a cluster that two entries share', damage: (d) => d.put(d.l2() + 8, d.get(d.l2())), lost: true },
    { name: 'a copied flag of an L2 entry cleared', damage: (d) => d.clear(d.l2(), copied) },
    {
      name: 'a copied flag of a zero cluster cleared',
      of: 'mixed',
      damage: (d) => d.clear(d.l2() + 8, copied),
    },
    { name: 'a copied flag of an L1 entry cleared', damage: (d) => d.clear(d.l1, copied) },
    { name: 'reserved low bits of an L2 entry', damage: (d) => d.or(d.l2(), 2n), lost: true },
    { name: 'reserved high bits of an L2 entry', damage: (d) => d.or(d.l2(), 1n << 57n), lost: true },
    { name: 'reserved bits of an L1 entry', damage: (d) => d.or(d.l1, 2n), lost: true },
    { name: 'data off a cluster', damage: (d) => d.put(d.l2(), d.get(d.l2()) + 512n), lost: true },
    { name: 'zeroes off a cluster', damage: (d) => d.put(d.l2(), (d.get(d.l2()) + 512n) | 1n), lost: true },
    { name: 'data past the end', damage: (d) => d.put(d.l2(), copied | 0x40000000n), lost: true },
    { name: 'data at the end', damage: (d) => d.put(d.l2(), copied | BigInt(d.bytes.length)), lost: true },
    {
      name: 'data that is the L1 table',
      damage: (d) => d.put(d.l2(), copied | BigInt(d.l1)),
      overlaps: 1,
      lost: true,
    },
    {
      name: 'data that is the refcount table',
      damage: (d) => d.put(d.l2(), copied | BigInt(d.refcountTable)),
      overlaps: 1,
      lost: true,
    },
    { name: 'no refcount block', damage: (d) => d.put(d.refcountTable, 0) },
    { name: 'a refcount block past the end', damage: (d) => d.put(d.refcountTable, 0x40000000) },
    { name: 'two refcount blocks at one place', damage: (d) => d.put(d.refcountTable + 8, d.block) },
    { name: 'a refcount block on data', damage: (d) => d.put(d.refcountTable + 8, d.place(d.l2())) },
    { name: 'marked dirty', damage: (d) => d.put(72, 1) },
    { name: 'marked corrupt', damage: (d) => d.put(72, 2) },
    { name: 'marked dirty with wrong refcounts', damage: (d) => d.put(72, 1).refcount(5, 0).refcount(6, 2) },
    {
      name: 'compressed with the copied flag',
      of: 'compressed',
      damage: (d) => d.or(d.l2(), copied),
      lost: true,
    },
    {
      name: 'compressed data that reaches too far',
      of: 'compressed',
      damage: (d) => d.or(d.l2(), 0xffn << 54n),
    },
    {
      name: 'a subcluster both allocated and zero',
      of: 'extended',
      damage: (d) => d.or(d.l2() + 8, 1n << 32n),
      lost: true,
    },
    { name: 'subclusters without a place', of: 'extended', damage: (d) => d.put(d.l2(), 0), lost: true },
    {
      name: 'a placed cluster of which nothing is used',
      of: 'extended',
      damage: (d) => d.put(d.l2() + 8, 0),
      lost: true,
    },
    {
      name: 'zero subclusters off a cluster',
      of: 'extended',
      damage: (d) => d.put(d.l2(), d.get(d.l2()) + 512n).put(d.l2() + 8, 0xffffffffn << 32n),
      lost: true,
    },
    { name: 'external data, flag cleared', of: 'external', damage: (d) => d.clear(d.l2() + 8, copied) },
    { name: 'external data off a cluster', of: 'external', damage: (d) => d.or(d.l2(), 512n), lost: true },
    { name: 'external data compressed', of: 'external', damage: (d) => d.put(d.l2(), 1n << 62n), lost: true },
    {
      name: 'zeroes off a cluster of external data',
      of: 'external',
      damage: (d) => d.put(d.l2() + 8, copied | 0x10201n),
      lost: true,
    },
    {
      name: 'a refcount that cannot count',
      of: 'narrow',
      damage: (d) => d.put(d.l2() + 8, d.get(d.l2())),
      lost: true,
    },
    { name: 'refcounts of one bit all gone', of: 'narrow', damage: (d) => d.put(d.block, 0) },
    { name: 'a refcount above 2^63', of: 'wide', damage: (d) => d.put(d.block + 40, 2n ** 63n + 5n) },
    {
      name: 'one snapshot entry with copied flags',
      of: 'snapshots',
      damage: (d) => d.or(d.place(d.snapshots), copied),
    },
    {
      name: 'a fault in an L2 table that snapshots share',
      of: 'snapshots',
      damage: (d) => d.or(d.place(d.place(d.snapshots)), 2n),
      lost: true,
    },
    // Differences, each on purpose.
    {
      // Which of the two the cluster really is cannot be told: its bytes are left alone, and so the flag in them.
      name: 'data that is an L2 table',
      damage: (d) => d.put(d.l2(), copied | BigInt(d.l2())),
      overlaps: 1,
      lost: true,
    },
    {
      // It has a place in the format's version 3 only, and reading it is an error here: no other program agrees on it.
      name: 'the zero flag in version 2',
      of: 'v2',
      damage: (d) => d.or(d.l2(), 1n),
      differs: { corruptions: 1 },
      after: { leaks: 2, all: 2 },
      lost: true,
    },
    {
      // The data stays in use: reading ignores the bitmap, and so nothing is lost.
      name: 'compressed with subclusters',
      of: 'extended',
      damage: (d) => d.or(d.l2() + 48 * 16 + 8, 1n),
      differs: {
        leaks: 0,
        imageEndOffset: 786432,
        allocatedClusters: 7,
        compressedClusters: 1,
        fragmentedClusters: 1,
      },
    },
    {
      // Garbage is not followed; and what the table refers to is kept when the rest is repaired.
      name: 'an L2 table off a cluster',
      damage: (d) => d.put(d.l1, d.get(d.l1) + 512n),
      differs: {
        corruptions: 1,
        leaks: 4,
        imageEndOffset: 655360,
        allocatedClusters: 0,
        fragmentedClusters: 0,
      },
      after: { leaks: 2, all: 2 },
      lost: true,
    },
    { name: 'an L2 table past the end', damage: (d) => d.put(d.l1, copied | 0x40000000n), lost: true },
    { name: 'the L1 table past the end', damage: (d) => d.put(40, 0x40000000), lost: true },
    {
      // qemu gives up; here the block counts for nothing, and all is written anew.
      name: 'a refcount block off a cluster',
      damage: (d) => d.put(d.refcountTable, d.block + 512),
      differs: { corruptions: 16, leaks: 0, checkErrors: 0, imageEndOffset: 655360 },
      after: { all: 0 },
    },
    {
      // The block that the entry leads to is in use all the same.
      name: 'reserved bits of a refcount table entry',
      damage: (d) => d.or(d.refcountTable, 1n),
      differs: { corruptions: 1, leaks: 0 },
      after: { all: 0 },
    },
    {
      name: 'the refcount table past the end',
      damage: (d) => d.put(48, 0x40000000),
    },
    {
      name: 'the L1 table of a snapshot off a cluster',
      of: 'snapshots',
      damage: (d) => d.put(d.snapshots, d.get(d.snapshots) + 512n),
    },
    {
      name: 'the L1 table of a snapshot past the end',
      of: 'snapshots',
      damage: (d) => d.put(d.snapshots, 0x40000000),
    },
    {
      name: 'the L1 table of a snapshot too large',
      of: 'snapshots',
      damage: (d) => d.view.setUint32(d.snapshots + 8, 0xffffffff),
    },
    {
      // That the place of the table is lost is one fault, not one for each snapshot.
      name: 'the snapshot table past the end',
      of: 'snapshots',
      damage: (d) => d.put(64, 0x40000000),
      differs: { corruptions: 1 },
      after: { leaks: 2, all: 2 },
    },
  ];

  describe.each(variants)('$name', ({ of = 'plain', damage, differs, overlaps = 0, after, lost }) => {
    const damaged = () => {
      const made = new Damage(base(of));
      damage(made);
      return made.bytes;
    };

    test('is told as by qemu-img', async () => {
      const { numbers, findings } = await ours(damaged());
      const expected = { ...theirs(damaged()).numbers, ...differs };
      if (overlaps > 0) expected.corruptions = (expected.corruptions ?? 0) + overlaps;
      expect(overlapsIn(findings)).toBe(overlaps);
      expect(
        { ...numbers, ...(expected.totalClusters ? {} : { totalClusters: undefined }) },
        findings.join('\n'),
      ).toEqual({
        totalClusters: undefined,
        ...expected,
      });
    });

    test.each(['leaks', 'all'] as const)('repaired: %s', async (repair) => {
      const { numbers, bytes, findings } = await ours(damaged(), repair);
      const own = theirs(damaged(), repair);
      const code = overlaps === 0 && own.numbers ? own.code : 2;
      expect(exitCode(numbers), findings.join('\n')).toBe(after?.[repair] ?? code);
      // What we say is left, qemu finds, and no more.
      if (differs === undefined && overlaps === 0) expect(theirs(bytes).code).toBe(exitCode(numbers));
      if (!lost) expectSame(bytes, base(of));
      if (of !== 'external') expectKept(await readable(damaged()), await readable(bytes));
    });
  });

  test.each(['plain', 'snapshots', 'small', 'mixed'] as const)('many faults at once in %s', async (name) => {
    const image = base(name);
    let state = 11;
    const random = (below: number) => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    for (let round = 0; round < 12; round++) {
      const damage = new Damage(image);
      const clusters = Math.min(Math.floor(image.length / damage.clusterSize), (damage.clusterSize * 8) / 16);
      for (let n = random(5); n >= 0; n--) {
        const entry = damage.l2() + random(24) * 8;
        const cluster = BigInt(random(clusters) * damage.clusterSize);
        const kind = random(4);
        if (kind === 0) damage.refcount(random(clusters), random(4));
        else if (kind === 1) damage.put(entry, cluster | (random(2) === 0 ? copied : 0n));
        else if (kind === 2 && damage.get(entry) >> 62n !== 1n) damage.put(entry, damage.get(entry) ^ copied);
        else damage.put(entry, BigInt(random(2)));
      }
      const { numbers, findings } = await ours(damage.bytes);
      const expected = theirs(damage.bytes).numbers;
      const overlaps = overlapsIn(findings);
      if (expected) expected.corruptions += overlaps;
      expect(numbers, `round ${round}: ${findings.join('\n')}`).toEqual(expected);
      for (const repair of ['leaks', 'all'] as const) {
        const repaired = await ours(damage.bytes, repair);
        const after = theirs(repaired.bytes).code;
        expect(after, `round ${round} ${repair}: ${repaired.findings.join('\n')}`).toBe(
          overlapsIn(repaired.findings) === repaired.numbers.corruptions && repair === 'all'
            ? 0
            : exitCode(repaired.numbers),
        );
        expectKept(await readable(damage.bytes), await readable(repaired.bytes));
      }
    }
  });

  test('a made image with everything', async () => {
    const builder = new ImageBuilder({ size: 8 << 20 });
    builder.data(0, new Uint8Array(300_000).fill(7));
    builder.zeroPlaced(1 << 20);
    builder.snapshot('1', 'one').snapshot('2', 'two').bitmap('b');
    builder.data(0, new Uint8Array(65536).fill(8));
    const image = builder.build();
    expect((await ours(image)).numbers).toEqual(theirs(image).numbers);
  });
});
