import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { concat, convert, measure } from '../../src/index.ts';
import { noise } from '../support.ts';
import { interop, Space } from './space.ts';

const K = 1024;
const M = K * K;

function nativeDeflate(): boolean {
  try {
    const { binding } = createRequire(import.meta.url)('@blockyard/native/addon') as { binding?: object };
    return binding !== undefined && 'deflateRaw' in binding;
  } catch {
    return false;
  }
}

/** Data that compresses, data that does not, zeroes of all lengths, holes. */
function disk(size: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(size);
  const random = noise(4096, seed);
  for (let at = 0, i = 0; at < size; i++) {
    const length = Math.min(size - at, (random[i % 4096] as number) * 700);
    const kind = (random[(i * 7 + 3) % 4096] as number) >> 6;
    const part = bytes.subarray(at, at + length);
    if (kind === 0) part.set(noise(length, seed + i));
    if (kind === 1) part.fill(random[(i * 3) % 4096] as number);
    if (kind === 2) for (let j = 0; j < length; j++) part[j] = (j * j) >> 9;
    at += length;
  }
  return bytes;
}

/** Qemu-img on one side, and this on the other. */
async function both(
  space: Space,
  args: readonly string[],
  create: string,
  options: Parameters<typeof convert>[2],
  size: number,
): Promise<void> {
  space.img(
    'convert',
    '-f',
    'raw',
    '-O',
    'qcow2',
    ...args,
    ...(create ? ['-o', create] : []),
    'source.raw',
    'theirs.qcow2',
  );
  space.create('ours.qcow2', size, undefined, create);
  await convert(await space.open('source.raw', { readOnly: true }), await space.open('ours.qcow2'), options);
  await space.close();
  space.expectSound('ours.qcow2');
  space.expectIdentical('source.raw', 'ours.qcow2');
}

interop('convert to qcow2', () => {
  const space = new Space();

  it.each([
    '',
    'cluster_size=512',
    'cluster_size=2M',
    'compat=0.10',
    'extended_l2=on',
    'refcount_bits=1',
    'preallocation=metadata',
  ])('with %s is as large as by qemu-img', async (create) => {
    const size = 9 * M + 512;
    space.write('source.raw', disk(size));
    await both(space, [], create, { targetIsZero: true }, size);
    expect(Math.abs(space.bytes('ours.qcow2') / space.bytes('theirs.qcow2') - 1)).toBeLessThan(0.02);
    if (!create.includes('preallocation') && !create.includes('extended'))
      expect(space.ownBytes('ours.qcow2')).toBe(space.ownBytes('theirs.qcow2'));
  });

  it.each([
    ['', 64 * K],
    ['compression_type=zstd', 64 * K],
    ['cluster_size=4k', 4 * K],
    ['cluster_size=2M', 2 * M],
    ['cluster_size=512', 512],
  ] as const)('compressed with %s is as small as by qemu-img', async (create, clusterSize) => {
    const size = 9 * M + 1024;
    space.write('source.raw', disk(size, 5));
    await both(space, ['-c'], create, { targetIsZero: true, compressed: true }, size);
    // Our files end with a whole cluster. Node's own zlib makes more of it than the system's.
    const most = nativeDeflate() || create.includes('zstd') ? 1.02 : 1.06;
    expect(space.bytes('ours.qcow2') - clusterSize).toBeLessThan(most * space.bytes('theirs.qcow2'));
  });

  it.each([0, 512, 65536, 1 * M])('with zeroes told apart from %s bytes on', async (sparse) => {
    const size = 5 * M;
    space.write('source.raw', disk(size, 3));
    await both(space, ['-S', String(sparse)], '', { targetIsZero: true, sparse }, size);
    if (sparse > 0) expect(space.ownBytes('ours.qcow2')).toBeLessThanOrEqual(space.ownBytes('theirs.qcow2'));
    else expect(space.ownBytes('ours.qcow2')).toBe(size);
  });

  it('in any order, with many requests', async () => {
    const size = 20 * M;
    space.write('source.raw', disk(size, 9));
    await both(
      space,
      [],
      '',
      { targetIsZero: true, outOfOrder: true, concurrency: 16, bufferBytes: 4 * M },
      size,
    );
  });

  it('writes over what an image holds, and leaves what is beyond', async () => {
    space.write('source.raw', disk(3 * M + 512, 2));
    space.create('theirs.qcow2', 8 * M);
    space.io('theirs.qcow2', 'write -P 7 0 8M');
    space.img('convert', '-O', 'qcow2', 'theirs.qcow2', 'ours.qcow2');
    space.img('convert', '-n', '-f', 'raw', '-O', 'qcow2', 'source.raw', 'theirs.qcow2');
    await convert(await space.open('source.raw', { readOnly: true }), await space.open('ours.qcow2'));
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('theirs.qcow2', 'ours.qcow2');
  });

  it('of several sources is what qemu-img makes of them', async () => {
    space.write('a.raw', disk(M + 100, 1));
    space.write('b.raw', disk(2 * M, 2));
    space.create('c.qcow2', M);
    space.io('c.qcow2', 'write -P 3 100k 100k');
    space.write('d.raw', disk(777, 4));
    // One format for all of them.
    space.img('convert', '-f', 'qcow2', '-O', 'raw', 'c.qcow2', 'c.raw');
    const names = ['a.raw', 'b.raw', 'c.raw', 'd.raw'];
    space.img('convert', '-f', 'raw', '-O', 'qcow2', ...names, 'theirs.qcow2');
    const source = await concat(
      await Promise.all(
        names.map((name) => space.open(name === 'c.raw' ? 'c.qcow2' : name, { readOnly: true })),
      ),
    );
    space.create('ours.qcow2', source.size);
    await convert(source, await space.open('ours.qcow2'), { targetIsZero: true });
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('theirs.qcow2', 'ours.qcow2');
  });
});

interop('convert over a backing file', () => {
  const space = new Space();

  /** base <- mid <- top, and other with some of the content of base. */
  function chain(): void {
    space.create('base.qcow2', 4 * M);
    space.io('base.qcow2', 'write -P 1 0 2M', 'write -c -P 2 2M 64k', 'write -z 3M 64k');
    space.create('mid.qcow2', undefined, 'base.qcow2');
    space.io('mid.qcow2', 'write -P 3 500k 300k', 'write -z 1M 128k');
    space.create('top.qcow2', undefined, 'mid.qcow2');
    space.io(
      'top.qcow2',
      'write -P 4 700k 10k',
      'write -z 192k 64k',
      'write -P 1 0 64k',
      'write -c -P 6 2M 64k',
    );
    space.create('other.qcow2', 3 * M);
    space.io('other.qcow2', 'write -P 1 0 1M', 'write -P 9 1M 2M');
  }

  it.each(['mid.qcow2', 'base.qcow2', 'other.qcow2'])('%s shows what the source does', async (backing) => {
    chain();
    space.create('ours.qcow2', 4 * M, backing);
    const source = await space.open('top.qcow2', { readOnly: true });
    await convert(source, await space.open('ours.qcow2'), { backing: true });
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('top.qcow2', 'ours.qcow2');
    space.img('convert', '-O', 'qcow2', '-B', backing, '-F', 'qcow2', 'top.qcow2', 'theirs.qcow2');
    // With the other two qemu-img leaves out what mid has, and the copy differs.
    if (backing === 'mid.qcow2') expect(space.ownBytes('ours.qcow2')).toBe(space.ownBytes('theirs.qcow2'));
  });

  it('compressed', async () => {
    chain();
    space.create('ours.qcow2', 4 * M, 'base.qcow2');
    const source = await space.open('top.qcow2', { readOnly: true });
    await convert(source, await space.open('ours.qcow2'), { backing: true, compressed: true });
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('top.qcow2', 'ours.qcow2');
  });
});

interop('convert with bitmaps', () => {
  const space = new Space();

  const bitmapsOf = (name: string) => {
    const info = JSON.parse(space.img('info', '--output=json', name)) as {
      'format-specific': { data: { bitmaps?: object[] } };
    };
    return info['format-specific'].data.bitmaps;
  };

  it('takes over what qemu-img takes over', async () => {
    space.create('source.qcow2', 8 * M);
    space.img('bitmap', '--add', 'source.qcow2', 'on');
    space.img('bitmap', '--add', '--disable', '-g', '4096', 'source.qcow2', 'off');
    space.io('source.qcow2', 'write -P 1 1M 100k', 'write -P 2 5M 10k');
    space.img('bitmap', '--add', '--merge', 'on', '-g', '1M', 'source.qcow2', 'merged');
    space.img('convert', '--bitmaps', '-O', 'qcow2', 'source.qcow2', 'theirs.qcow2');
    space.create('ours.qcow2', 8 * M);
    const source = await space.open('source.qcow2', { readOnly: true });
    const result = await convert(source, await space.open('ours.qcow2'), {
      targetIsZero: true,
      bitmaps: true,
    });
    expect(result.bitmaps?.copied).toEqual(['on', 'off', 'merged']);
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('source.qcow2', 'ours.qcow2');
    expect(bitmapsOf('ours.qcow2')).toEqual(bitmapsOf('theirs.qcow2'));
    const [a, b] = [
      await space.open('theirs.qcow2', { readOnly: true }),
      await space.open('ours.qcow2', { readOnly: true }),
    ];
    expect(await b.features.bitmaps?.list()).toEqual(await a.features.bitmaps?.list());
    for (const name of ['on', 'off', 'merged'])
      expect(await b.features.bitmaps?.nextDirty(name, 0)).toEqual(
        await a.features.bitmaps?.nextDirty(name, 0),
      );
  });
});

interop('measure', () => {
  const space = new Space();
  const creations = [
    ['', {}],
    ['cluster_size=4k', { clusterSize: 4096 }],
    ['cluster_size=2M', { clusterSize: 2 * M }],
    ['extended_l2=on', { extendedL2: true }],
    ['preallocation=full', { preallocation: 'full' }],
    ['compat=0.10', { compat: '0.10' }],
  ] as const;

  it.each(creations)('with %s says what qemu-img says', async (options, creation) => {
    const format = space.registry.driver('qcow2', 'format');
    const theirs = (...args: string[]) => {
      const more = options ? ['-o', options] : [];
      return JSON.parse(space.img('measure', '-O', 'qcow2', '--output=json', ...more, ...args)) as Record<
        string,
        number
      >;
    };
    const compared = ({ required, fullyAllocated, bitmaps }: Awaited<ReturnType<typeof measure>>) => ({
      required,
      'fully-allocated': fullyAllocated,
      ...(bitmaps === undefined ? {} : { bitmaps }),
    });
    for (const size of [0, 512, M, 100 * M, 10 * K * M])
      expect(compared(await measure(size, { format, creation }))).toEqual(theirs('--size', String(size)));
    space.write('source.raw', disk(9 * M));
    const raw = await space.open('source.raw', { readOnly: true });
    expect(compared(await measure(raw, { format, creation }))).toEqual(theirs('-f', 'raw', 'source.raw'));
    // Whole clusters: whether holes in others are seen depends on the file system.
    space.create('base.qcow2', 7 * M);
    space.io('base.qcow2', 'write -P 1 64k 1M', 'write -z 3M 128k');
    space.create('top.qcow2', 9 * M, 'base.qcow2');
    space.io('top.qcow2', 'write -z 192k 512k', 'write -P 3 5M 64k', 'write -c -P 4 6M 64k');
    const node = await space.open('top.qcow2', { readOnly: true });
    const { bitmaps: _bitmaps, ...expected } = theirs('top.qcow2');
    expect(compared(await measure(node, { format, creation }))).toMatchObject(expected);
  });
});

interop('sparse sources', () => {
  const space = new Space();

  it('are not read where they are holes', async () => {
    execFileSync('truncate', ['-s', '10G', space.path('source.raw')]);
    space.io('source.raw', 'write -P 1 5G 1M');
    space.create('ours.qcow2', 10 * K * M);
    const result = await convert(
      await space.open('source.raw', { readOnly: true }),
      await space.open('ours.qcow2'),
      {
        targetIsZero: true,
      },
    );
    expect(result.bytesRead).toBe(M);
    await space.close();
    space.expectSound('ours.qcow2');
    space.expectIdentical('source.raw', 'ours.qcow2');
  });
});
