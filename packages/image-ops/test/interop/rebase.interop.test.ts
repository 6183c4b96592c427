import { expect, it } from 'vitest';
import { rebase } from '../../src/index.ts';
import { interop, Space } from './space.ts';

const K = 1024;
const M = K * K;

interop('rebase', () => {
  const space = new Space();

  /** root <- old <- over, and new on root, with content that is partly the same. */
  function make(sizes: { old?: number; new?: number; over?: number }, options?: string): void {
    space.create('root.qcow2', 6 * M);
    space.io('root.qcow2', 'write -P 1 0 3M', 'write -c -P 2 4M 64k');
    space.create('old.qcow2', sizes.old ?? 6 * M, 'root.qcow2', options);
    space.io('old.qcow2', 'write -P 3 500k 300k', 'write -z 1M 200k', 'write -P 9 1900k 60k');
    space.create('new.qcow2', sizes.new ?? 6 * M, 'root.qcow2', options);
    space.io('new.qcow2', 'write -P 3 600k 200k', 'write -P 4 1M 100k', 'write -z 1900k 20k');
    space.create('over.qcow2', sizes.over ?? 6 * M, 'old.qcow2', options);
    space.io('over.qcow2', 'write -P 5 700k 10k', 'write -z 64k 64k', 'write -P 6 1100k 100k');
    space.copy('over.qcow2', 'theirs.qcow2');
    space.img('convert', '-O', 'raw', 'over.qcow2', 'before.raw');
  }

  async function ours(to: string | undefined, unsafe = false) {
    const node = await space.open('over.qcow2');
    const newBacking = to === undefined ? undefined : await space.open(to, { readOnly: true });
    const result = await rebase(node, { newBacking, name: to, format: to && 'qcow2', unsafe });
    await space.close();
    return result;
  }

  const theirs = (to: string | undefined, ...more: string[]) =>
    space.img('rebase', '-q', ...more, '-b', to ?? '', ...(to ? ['-F', 'qcow2'] : []), 'theirs.qcow2');

  const backing = (name: string) => {
    const info = JSON.parse(space.img('info', '--output=json', name)) as Record<string, unknown>;
    return [info['backing-filename'], info['backing-filename-format']];
  };

  const sizes = [
    {},
    { old: 2 * M },
    { new: 2 * M + 512 },
    { over: 9 * M },
    { over: 2 * M + 512 },
    { old: 3 * M, new: 2 * M, over: 5 * M },
  ];
  for (const to of ['new.qcow2', 'root.qcow2', undefined]) {
    it.each(sizes)(`to ${to ?? 'nothing'} keeps the disk, with sizes %o`, async (some) => {
      make(some);
      await ours(to);
      theirs(to);
      space.expectSound('over.qcow2');
      space.expectIdentical('before.raw', 'over.qcow2');
      expect(backing('over.qcow2')).toEqual(backing('theirs.qcow2'));
      expect(space.ownBytes('over.qcow2')).toBeLessThanOrEqual(space.ownBytes('theirs.qcow2'));
    });
  }

  it.each(['cluster_size=4k', 'cluster_size=1M', 'extended_l2=on', 'compat=0.10'])(
    'with %s',
    async (options) => {
      make({}, options);
      await ours('new.qcow2');
      space.expectSound('over.qcow2');
      space.expectIdentical('before.raw', 'over.qcow2');
    },
  );

  it('there and back, in turns with qemu-img', async () => {
    make({});
    await ours('new.qcow2');
    space.img('rebase', '-q', '-b', 'old.qcow2', '-F', 'qcow2', 'over.qcow2');
    await ours('root.qcow2');
    space.img('rebase', '-q', '-b', '', 'over.qcow2');
    await ours('new.qcow2');
    space.expectSound('over.qcow2');
    space.expectIdentical('before.raw', 'over.qcow2');
  });

  it('only records the name when that is all that is asked', async () => {
    make({});
    await ours('new.qcow2', true);
    theirs('new.qcow2', '-u');
    space.expectSound('over.qcow2');
    space.expectIdentical('theirs.qcow2', 'over.qcow2');
    expect(backing('over.qcow2')).toEqual(['new.qcow2', 'qcow2']);
  });
});
