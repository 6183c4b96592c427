import { expect, it } from 'vitest';
import { commit } from '../../src/index.ts';
import { noise } from '../support.ts';
import { interop, Space } from './space.ts';

const K = 1024;
const M = K * K;

interface Layer {
  size: number;
  options?: string;
  writes: string[];
}

/** A layer with writes of all kinds at random places. */
function layer(size: number, seed: number, options = ''): Layer {
  const random = noise(100, seed);
  const kinds = ['write -P', 'write -P', 'write -z', 'write -z -u', 'discard', 'write -c -P'];
  const writes = Array.from({ length: 10 }, (_, i) => {
    const [a, b, c] = [0, 1, 2].map((j) => (random[i * 3 + j] as number) >> 1) as [number, number, number];
    const kind = kinds[c % kinds.length] as string;
    const at = Math.floor((a * size) / 128 / 512) * 512;
    const length = Math.min(size - at, 512 * (1 + b * 3));
    if (kind.includes('-c')) {
      const cluster = Math.floor(at / (64 * K)) * 64 * K;
      return cluster + 64 * K <= size && !options ? `${kind} ${b + 1} ${cluster} 64k` : '';
    }
    return `${kind}${kind.endsWith('P') ? ` ${b + 1}` : ''} ${at} ${length}`;
  });
  return { size, options, writes: writes.filter((text) => text !== '') };
}

interop('commit', () => {
  const space = new Space();

  /** The same chain twice, as ours-0 <- ours-1 ..., with the disk of its top as a raw file. */
  function make(layers: readonly Layer[]): void {
    for (const who of ['ours', 'theirs']) {
      layers.forEach(({ size, options, writes }, i) => {
        space.create(
          `${who}-${i}.qcow2`,
          size,
          i > 0 ? `${who}-${i - 1}.qcow2` : undefined,
          options || undefined,
        );
        for (const one of writes) {
          try {
            space.io(`${who}-${i}.qcow2`, one);
          } catch {
            // A compressed write where there is data already.
          }
        }
      });
    }
    space.img('convert', '-O', 'raw', `ours-${layers.length - 1}.qcow2`, 'top.raw');
  }

  async function commitOurs(count: number, base: number, keep: boolean) {
    const nodes = [await space.open('ours-0.qcow2')];
    for (let i = 1; i < count; i++)
      nodes.push(await space.open(`ours-${i}.qcow2`, { backing: nodes[i - 1] as never }));
    const result = await commit(nodes[count - 1] as never, nodes[base] as never, { keep });
    await space.close();
    return result;
  }

  const chains: [string, Layer[]][] = [
    ['equal sizes', [layer(8 * M, 1), layer(8 * M, 2), layer(8 * M, 3)]],
    ['a larger top', [layer(4 * M, 4), layer(4 * M, 5), layer(8 * M + 512, 6)]],
    ['a smaller top', [layer(8 * M, 7), layer(8 * M, 8), layer(3 * M + 512, 9)]],
    ['a short layer between', [layer(8 * M, 10), layer(3 * M, 11), layer(8 * M, 12)]],
    ['a short base', [layer(2 * M + 512, 13), layer(8 * M, 14), layer(6 * M, 15)]],
    [
      'other clusters',
      [layer(8 * M, 16, 'cluster_size=4k'), layer(8 * M, 17), layer(8 * M, 18, 'cluster_size=1M')],
    ],
    [
      'parts of clusters',
      [layer(8 * M, 19, 'extended_l2=on'), layer(8 * M, 20, 'extended_l2=on'), layer(8 * M, 21)],
    ],
  ];

  for (const [name, layers] of chains) {
    const variants = [
      { base: 1, keep: false },
      { base: 1, keep: true },
      { base: 0, keep: false },
    ];
    it.each(variants)(
      `with ${name}, into layer $base (keep: $keep), does what qemu-img does`,
      async ({ base, keep }) => {
        make(layers);
        const last = layers.length - 1;
        const { emptied } = await commitOurs(layers.length, base, keep);
        expect(emptied).toBe(base === last - 1 && !keep);
        space.img(
          'commit',
          '-q',
          ...(keep ? ['-d'] : []),
          '-b',
          `theirs-${base}.qcow2`,
          `theirs-${last}.qcow2`,
        );
        for (let i = 0; i <= last; i++) {
          space.expectSound(`ours-${i}.qcow2`);
          space.expectIdentical(`theirs-${i}.qcow2`, `ours-${i}.qcow2`);
        }
        space.expectIdentical('top.raw', `ours-${last}.qcow2`);
        if (emptied) expect(space.ownBytes(`ours-${last}.qcow2`)).toBe(0);
      },
    );
  }

  it('in turns with qemu-img leaves the same disk', async () => {
    const layers = [layer(4 * M, 31), layer(4 * M, 32), layer(4 * M, 33), layer(4 * M, 34)];
    make(layers);
    // The top into its neighbour by us, that into its own by qemu-img, and the last by us.
    await commitOurs(4, 2, false);
    space.img('commit', '-q', 'ours-2.qcow2');
    await commitOurs(2, 0, false);
    for (let i = 0; i < 4; i++) {
      space.expectSound(`ours-${i}.qcow2`);
      space.expectIdentical('top.raw', `ours-${i}.qcow2`);
    }
  });

  it('into a raw base', async () => {
    space.write('base.raw', noise(3 * M, 1));
    space.create('over.qcow2', undefined, 'base.raw');
    space.io('over.qcow2', 'write -P 7 100k 1M', 'write -z 2M 100k');
    space.img('convert', '-O', 'raw', 'over.qcow2', 'top.raw');
    const base = await space.open('base.raw');
    await commit(await space.open('over.qcow2', { backing: base }), base);
    await space.close();
    space.expectIdentical('top.raw', 'base.raw');
    space.expectIdentical('top.raw', 'over.qcow2');
    space.expectSound('over.qcow2');
  });
});
