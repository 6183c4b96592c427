import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { done } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const MiB = 1 << 20;
writeFileSync(path('a.raw'), noise(3 * MiB + 5));
truncateSync(path('a.raw'), 10 * MiB);

describe('measure', () => {
  it.each([[[]], [['-o', 'cluster_size=4k']], [['-o', 'refcount_bits=64,extended_l2=on']]])(
    'tells the size of the qcow2 image that convert %j makes',
    async (flags) => {
      const sizes = JSON.parse(
        await done('measure', '--json', '-O', 'qcow2', ...flags, '-f', 'raw', path('a.raw')),
      );
      await done(
        'convert',
        '--overwrite',
        '-O',
        'qcow2',
        ...flags,
        '-f',
        'raw',
        path('a.raw'),
        path('a.qcow2'),
      );
      const { size } = statSync(path('a.qcow2'));
      expect(sizes.required).toBeGreaterThanOrEqual(size);
      // Where holes cannot be seen, all of the source counts as data.
      expect(sizes.required).toBeLessThan(Math.max(size, sizes.data) + 3 * MiB);
      expect(sizes['fully-allocated']).toBeGreaterThan(10 * MiB);
    },
  );

  it('of a size, and of a raw image', async () => {
    expect(JSON.parse(await done('measure', '--json', '-O', 'qcow2', '--size', '10G'))).toEqual({
      required: 1_900_544,
      'fully-allocated': 10_739_318_784,
    });
    expect(await done('measure', '--size', '1M')).toMatch(/^required size: 1 MiB \(1048576 bytes\)\n/);
    expect(await done('measure', '-O', 'qcow2', '-o', 'size=1M,cluster_size=512')).toMatch(
      /^required size: /,
    );
  });

  it('refuses options that a new image cannot have', async () => {
    expect((await run(['measure', '-O', 'qcow2', '-o', 'clustersize=4k', '--size', '1M'])).code).toBe(2);
    expect((await run(['measure', '-O', 'qcow2', '-o', 'cluster_size=5k', '--size', '1M'])).code).toBe(1);
    expect((await run(['measure', '-O', 'vmdk', '--size', '1M'])).code).toBe(1);
  });
});
