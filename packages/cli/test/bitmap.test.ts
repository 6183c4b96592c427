import { describe, expect, it } from 'vitest';
import { done, poke, told } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const matching = (text: RegExp) => expect.stringMatching(text) as string;
const list = async (image: string) => JSON.parse(await done('bitmap', '--list', '--json', image));

async function image(name: string): Promise<string> {
  await done('create', '-q', '-f', 'qcow2', path(name), '4M');
  return path(name);
}

describe('bitmap', () => {
  it('adds, records, disables, clears and removes', async () => {
    const vm = await image('vm.qcow2');
    expect(await run(['bitmap', '--list', vm])).toMatchObject({
      code: 0,
      out: '',
      err: matching(/has no bitmaps/),
    });
    expect(await done('bitmap', '-q', '--add', '-g', '128k', vm, 'a')).toBe('');
    expect(await done('bitmap', '--add', '--disable', vm, 'b')).toBe(`${vm}: bitmap 'b' added, disabled\n`);
    await poke(vm, 'qcow2', 1_000_000, noise(10));
    expect(await list(vm)).toEqual([
      { name: 'a', granularity: 131_072, recording: true, persistent: true, count: 131_072 },
      { name: 'b', granularity: 65_536, recording: false, persistent: true, count: 0 },
    ]);
    expect(await done('bitmap', '--list', vm)).toMatch(
      /^NAME {2}GRANULARITY {2}STATE +DIRTY\na +128 KiB {2}enabled +128 KiB\nb +64 KiB {2}disabled +0 B\n$/,
    );
    await done('bitmap', '--disable', '--clear', vm, 'a');
    expect(await list(vm)).toMatchObject([{ name: 'a', recording: false, count: 0 }, { name: 'b' }]);
    await done('bitmap', '--enable', vm, 'b');
    await done('bitmap', '--remove', vm, 'a');
    expect(await list(vm)).toMatchObject([{ name: 'b', recording: true }]);
    expect(await told(vm)).toMatchObject({
      'format-specific': { data: { bitmaps: [{ name: 'b', flags: ['auto'], granularity: 65_536 }] } },
    });
  });

  it('merges from the same image and from another, in the order of the words', async () => {
    const [one, two] = [await image('one.qcow2'), await image('two.qcow2')];
    for (const vm of [one, two]) await done('bitmap', '--add', vm, 'x');
    await poke(one, 'qcow2', 0, noise(10));
    await poke(two, 'qcow2', 1 << 20, noise(10));
    await done('bitmap', '--add', '--merge', 'x', one, 'all');
    await done('bitmap', '--merge', 'x', '-b', two, '-F', 'qcow2', one, 'all');
    expect(await list(one)).toMatchObject([{ count: 65_536 }, { name: 'all', count: 131_072 }]);
    await done('bitmap', '--merge', 'x', '--clear', one, 'all');
    expect(await list(one)).toMatchObject([{}, { name: 'all', count: 0 }]);
    await done('bitmap', '--clear', '--merge', 'x', one, 'all');
    expect(await list(one)).toMatchObject([{}, { name: 'all', count: 65_536 }]);
  });

  it('says what was done before an action that fails', async () => {
    const vm = await image('left.qcow2');
    const ended = await run(['bitmap', '--add', '--merge', 'none', vm, 'a']);
    expect(ended.code).toBe(1);
    expect(ended.err).toMatch(/none[\s\S]*what came before is done: add/);
    expect(await list(vm)).toMatchObject([{ name: 'a' }]);
  });

  it.each([
    [['--add', '-g', '1000'], 'a', /[Gg]ranularity/],
    [['--remove'], 'none', /none/],
    [['--add'], 'there', /there/],
  ])('refuses %j %s', async (flags, name, message) => {
    const vm = path('refused.qcow2');
    if ((await run(['create', '-q', '-f', 'qcow2', vm, '4M'])).code === 0)
      await done('bitmap', '--add', vm, 'there');
    expect(await run(['bitmap', ...flags, vm, name])).toMatchObject({ code: 1, err: matching(message) });
  });

  it('refuses images that cannot keep any', async () => {
    await done('create', '-q', '-f', 'qcow2', '-o', 'compat=0.10', path('old.qcow2'), '1M');
    await done('create', '-q', path('a.raw'), '1M');
    expect((await run(['bitmap', '--add', path('old.qcow2'), 'a'])).code).toBe(1);
    expect(await run(['bitmap', '--add', '-f', 'raw', path('a.raw'), 'a'])).toMatchObject({
      code: 1,
      err: matching(/cannot hold bitmaps \(format raw\)/),
    });
  });

  it('works when the backing file is missing', async () => {
    const argv = ['-q', '-u', '-f', 'qcow2', '-b', 'gone.raw', '-F', 'raw'];
    await done('create', ...argv, path('over.qcow2'), '1M');
    await done('bitmap', '--add', path('over.qcow2'), 'a');
    expect(await list(path('over.qcow2'))).toMatchObject([{ name: 'a' }]);
  });
});
