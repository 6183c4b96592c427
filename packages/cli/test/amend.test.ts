import { describe, expect, it } from 'vitest';
import { digest, done, header, poke, told } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const matching = (text: RegExp) => expect.stringMatching(text) as string;

describe('amend', () => {
  it('changes what can be changed, and not the disk', async () => {
    const vm = path('vm.qcow2');
    await done('create', '-q', '-f', 'qcow2', '-o', 'compat=0.10', vm, '2M');
    await poke(vm, 'qcow2', 0, noise(300_000));
    const before = await digest(vm);
    expect(await done('amend', '-o', 'compat=1.1', vm)).toBe(`${vm}: amended\n`);
    expect(header(vm).version).toBe(3);
    await done('amend', '-q', '-o', 'refcount_bits=64', '-o', 'lazy_refcounts=on', vm);
    expect(header(vm)).toMatchObject({ refcountBits: 64, compatible: 1 });
    expect(
      JSON.parse(await done('amend', '--json', '-o', 'lazyRefcounts=off,refcount_bits=16', vm)),
    ).toMatchObject({
      image: vm,
    });
    await done('amend', '-o', 'compat=v2', vm);
    expect(header(vm).version).toBe(2);
    await done('amend', '-o', 'backing_file=gone.raw,backing_fmt=raw', vm);
    expect(await told(vm)).toMatchObject({
      'backing-filename': 'gone.raw',
      'backing-filename-format': 'raw',
    });
    await done('amend', '-o', 'backing_file=', vm);
    expect(await digest(vm)).toBe(before);
  });

  it('refuses what is for life, and formats without options', async () => {
    const vm = path('other.qcow2');
    await done('create', '-q', '-f', 'qcow2', vm, '2M');
    expect(await run(['amend', '-o', 'cluster_size=4k', vm])).toMatchObject({
      code: 2,
      err: matching(/an existing qcow2 image has no such option; it has .*compat/),
    });
    expect(await run(['amend', '-o', 'compt=1.1', vm])).toMatchObject({
      code: 2,
      err: matching(/did you mean compat\?/),
    });
    expect((await run(['amend', '-o', 'refcount_bits=7', vm])).code).toBe(1);
    await done('create', '-q', path('a.raw'), '1M');
    expect(await run(['amend', '-f', 'raw', '-o', 'compat=1.1', path('a.raw')])).toMatchObject({
      code: 1,
      err: matching(/format raw have no options/),
    });
  });
});
