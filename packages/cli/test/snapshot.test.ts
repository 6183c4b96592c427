import { describe, expect, it } from 'vitest';
import { digest, done, header, poke } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const MiB = 1 << 20;
const matching = (text: RegExp) => expect.stringMatching(text) as string;

async function image(name: string): Promise<string> {
  await done('create', '-q', '-f', 'qcow2', path(name), '2M');
  await poke(path(name), 'qcow2', 1000, noise(100_000));
  return path(name);
}

describe('snapshot', () => {
  it('takes, lists, applies and deletes', async () => {
    const vm = await image('vm.qcow2');
    const first = await digest(vm);
    expect(await run(['snapshot', vm])).toMatchObject({
      code: 0,
      out: '',
      err: matching(/has no snapshots/),
    });
    expect(await done('snapshot', '-c', 'one', vm)).toBe("snapshot 1 'one' created\n");
    await poke(vm, 'qcow2', 50_000, noise(200_000, 2));
    const second = await digest(vm);
    expect(await done('snapshot', '--create', 'two words', vm)).toMatch(/^snapshot 2 /);
    const list = await done('snapshot', '-l', vm);
    expect(list).toMatch(/^ID {2}NAME +VM STATE {2}DISK SIZE {2}DATE \(UTC\)/);
    expect(list).toMatch(/\n1 +one +0 B +2 MiB {2}20\d\d-\d\d-\d\d /);
    expect(JSON.parse(await done('snapshot', '--list', '--json', vm))).toMatchObject([
      { id: '1', name: 'one', 'vm-state-size': 0, 'disk-size': 2 * MiB },
      { id: '2', name: 'two words' },
    ]);
    expect(await digest(vm, '-l', 'one')).toBe(first);
    expect(await done('snapshot', '-a', 'one', vm)).toBe("snapshot 1 'one' applied\n");
    expect(await digest(vm)).toBe(first);
    await done('snapshot', '--apply', '2', vm);
    expect(await digest(vm)).toBe(second);
    expect(await done('snapshot', '-q', '-d', 'one', vm)).toBe('');
    expect(JSON.parse(await done('snapshot', '--json', '--delete', '2', vm))).toMatchObject({
      image: vm,
      deleted: { id: '2' },
    });
    expect(header(vm).snapshots).toBe(0);
    expect(await digest(vm)).toBe(second);
  });

  it('gives the disk the size that it had', async () => {
    const vm = await image('sized.qcow2');
    await done('snapshot', '-c', 'small', vm);
    await done('resize', vm, '3M');
    expect(await done('snapshot', '-a', 'small', vm)).toMatch(
      /the disk has 2 MiB again, before it had 3 MiB/,
    );
    expect(header(vm).size).toBe(2 * MiB);
  });

  it('works when the backing file is missing', async () => {
    const argv = ['-q', '-u', '-f', 'qcow2', '-b', 'gone.raw', '-F', 'raw'];
    await done('create', ...argv, path('over.qcow2'), '1M');
    await done('snapshot', '-c', 'a', path('over.qcow2'));
    expect(await done('snapshot', path('over.qcow2'))).toMatch(/\n1 +a /);
    const graph = { driver: 'qcow2', file: { driver: 'file', filename: path('over.qcow2') } };
    expect(await done('snapshot', '-l', JSON.stringify(graph))).toMatch(/\n1 +a /);
    await done('snapshot', '-a', 'a', path('over.qcow2'));
    await done('snapshot', '-d', 'a', path('over.qcow2'));
  });

  it('takes an id before a name, and says so', async () => {
    const vm = await image('names.qcow2');
    await done('snapshot', '-c', '2', vm);
    await done('snapshot', '-c', 'x', vm);
    const taken = await run(['snapshot', '-c', 'x', vm]);
    expect(taken).toMatchObject({ code: 0, err: matching(/2 has the name 'x' too/) });
    expect(await run(['snapshot', '-a', 'x', vm])).toMatchObject({
      code: 1,
      err: matching(/several are named 'x'; say which by its id \(2, 3\)/),
    });
    const applied = await run(['snapshot', '-a', '2', vm]);
    expect(applied).toMatchObject({
      code: 0,
      out: "snapshot 2 'x' applied\n",
      err: matching(/'2' is the id of the snapshot 'x'.*snapshot\.name=2 means the name/),
    });
    expect(await done('snapshot', '-d', 'snapshot.name=2', vm)).toBe("snapshot 1 '2' deleted\n");
    expect(await run(['snapshot', '-d', 'snapshot.id=x', vm])).toMatchObject({
      code: 1,
      err: matching(/none with the id or name 'x'; there are 2 'x', 3 'x'/),
    });
  });

  it('refuses what has none', async () => {
    await done('create', '-q', path('a.raw'), '1M');
    expect(await run(['snapshot', '-f', 'raw', '-c', 'x', path('a.raw')])).toMatchObject({
      code: 1,
      err: matching(/the format raw has no internal snapshots/),
    });
    expect(await run(['snapshot', '-c', 'x', path('a.raw')])).toMatchObject({
      code: 1,
      err: matching(/seems to be raw; if it is, say -f raw/),
    });
  });
});
