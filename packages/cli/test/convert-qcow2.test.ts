import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, header, poke, told } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { directory, path } = scratch();
const MiB = 1 << 20;
const matching = (text: RegExp) => expect.stringMatching(text) as string;
const partials = () => readdirSync(directory).filter((name) => name.endsWith('.partial'));
const bytes = Buffer.concat([noise(3 * MiB), Buffer.alloc(4 * MiB), Buffer.alloc(MiB, 'text ')]);
const source = path('source.raw');
writeFileSync(source, bytes);
const original = await digest(source, '-f', 'raw');

describe('convert to qcow2', () => {
  it.each([
    [[]],
    [['-o', 'cluster_size=4k']],
    [['-o', 'compat=0.10,cluster_size=2M']],
    [['-o', 'extended_l2=on,preallocation=metadata']],
    [['-c']],
    [['-c', '-W', '-o', 'compression_type=zstd,cluster_size=16k']],
    [['-S', '0']],
    [['-t', 'none', '-T', 'none', '-W', '-m', '16']],
  ])('%j keeps the content', async (flags) => {
    const target = path('copy.qcow2');
    const { code, err } = await run([
      'convert',
      '--overwrite',
      '-O',
      'qcow2',
      ...flags,
      '--verify',
      source,
      target,
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(await digest(target)).toBe(original);
    expect(header(target).size).toBe(bytes.length);
    expect(partials()).toEqual([]);
  });

  it('stores compressed what gets smaller', async () => {
    await done('convert', '-O', 'qcow2', source, path('plain.qcow2'));
    await done('convert', '-O', 'qcow2', '-c', source, path('small.qcow2'));
    const [plain, small] = [path('plain.qcow2'), path('small.qcow2')].map((file) => statSync(file).size);
    expect(small).toBeLessThan((plain as number) - 900_000);
  });

  it('joins several sources', async () => {
    await done('convert', '-O', 'qcow2', source, source, path('joined.qcow2'));
    writeFileSync(path('joined.raw'), Buffer.concat([bytes, bytes]));
    expect(await digest(path('joined.qcow2'))).toBe(await digest(path('joined.raw'), '-f', 'raw'));
  });

  it('leaves to a backing file what it has', async () => {
    await done('convert', '-O', 'qcow2', source, path('base.qcow2'));
    await done('create', '-q', '-f', 'qcow2', '-b', 'base.qcow2', '-F', 'qcow2', path('over.qcow2'));
    await poke(path('over.qcow2'), 'qcow2', 200_000, noise(50_000, 4));
    const before = await digest(path('over.qcow2'));
    await done(
      'convert',
      '-O',
      'qcow2',
      '-B',
      'base.qcow2',
      '-F',
      'qcow2',
      path('over.qcow2'),
      path('new.qcow2'),
    );
    expect(await told(path('new.qcow2'))).toMatchObject({ 'backing-filename': 'base.qcow2' });
    expect(await digest(path('new.qcow2'))).toBe(before);
    expect(statSync(path('new.qcow2')).size).toBeLessThan(MiB);
    expect(
      await run(['convert', '-O', 'qcow2', '-B', 'base.qcow2', path('over.qcow2'), path('no.qcow2')]),
    ).toMatchObject({ code: 1, err: matching(/-F qcow2, which it seems to be/) });
    expect(existsSync(path('no.qcow2'))).toBe(false);
  });

  it('with -n writes into the disk of an image that exists', async () => {
    await done('create', '-q', '-f', 'qcow2', path('there.qcow2'), `${bytes.length}`);
    await poke(path('there.qcow2'), 'qcow2', 0, noise(bytes.length, 9));
    expect(await run(['convert', '-n', source, path('there.qcow2')])).toMatchObject({
      code: 2,
      err: matching(/is a qcow2 image: say -O qcow2 to write into its disk/),
    });
    await done('convert', '-n', '-O', 'qcow2', source, path('there.qcow2'));
    expect(await digest(path('there.qcow2'))).toBe(original);
    await done('create', '-q', '-f', 'qcow2', path('new-there.qcow2'), `${bytes.length}`);
    await done('convert', '-n', '--target-is-zero', '-O', 'qcow2', source, path('new-there.qcow2'));
    expect(await digest(path('new-there.qcow2'))).toBe(original);
    const opts = `driver=qcow2,file.filename=${path('new-there.qcow2')}`;
    await done('convert', '-n', '--target-image-opts', '-O', 'qcow2', path('over.qcow2'), opts);
    expect(await digest(path('new-there.qcow2'))).toBe(await digest(path('over.qcow2')));
  });

  it('with -n and -B writes over the backing file that the target has', async () => {
    await done('create', '-q', '-f', 'qcow2', '-b', 'base.qcow2', '-F', 'qcow2', path('o.qcow2'));
    await done('convert', '-n', '-O', 'qcow2', '-B', 'base.qcow2', path('over.qcow2'), path('o.qcow2'));
    expect(await digest(path('o.qcow2'))).toBe(await digest(path('over.qcow2')));
    expect(statSync(path('o.qcow2')).size).toBeLessThan(MiB);
    expect(
      await run(['convert', '-n', '-O', 'qcow2', '-B', 'source.raw', path('over.qcow2'), path('o.qcow2')]),
    ).toMatchObject({ code: 1, err: matching(/keeps the backing file that it has, which is .*base\.qcow2/) });
  });

  it('with a data file of its own', async () => {
    const argv = ['convert', '-O', 'qcow2', '-o', 'data_file=data.raw,data_file_raw=on', '--verify'];
    await done(...argv, source, path('meta.qcow2'));
    expect(readFileSync(path('data.raw')).equals(bytes)).toBe(true);
    expect(await digest(path('meta.qcow2'))).toBe(original);
    expect(await run([...argv, source, path('meta2.qcow2')])).toMatchObject({
      code: 1,
      err: matching(/data\.raw: it exists already/),
    });
    expect(existsSync(path('meta2.qcow2'))).toBe(false);
    await done(...argv, '--overwrite', source, path('meta.qcow2'));
    expect(partials()).toEqual([]);
  });

  it('from standard input', async () => {
    const ended = await run(['convert', '-O', 'qcow2', '-', path('piped.qcow2')], { stdin: [bytes] });
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(await digest(path('piped.qcow2'))).toBe(original);
    for (const flags of [['-c'], ['-B', 'base.qcow2', '-F', 'qcow2'], ['--salvage'], ['--bitmaps']])
      expect((await run(['convert', '-O', 'qcow2', ...flags, '-', path('p')], { stdin: [bytes] })).code).toBe(
        2,
      );
    expect(await run(['convert', '-O', 'qcow2', source, '-'])).toMatchObject({
      code: 1,
      err: matching(/needs random access/),
    });
  });

  it('with --salvage goes on where the source cannot be read', async () => {
    // The file ends where the image says that data is.
    await done('convert', '-O', 'qcow2', source, path('cut.qcow2'));
    const whole = readFileSync(path('cut.qcow2'));
    writeFileSync(path('cut.qcow2'), whole.subarray(0, -MiB / 2));
    expect(await run(['convert', '-O', 'qcow2', path('cut.qcow2'), path('x.qcow2')])).toMatchObject({
      code: 1,
    });
    expect(existsSync(path('x.qcow2'))).toBe(false);
    const ended = await run(['convert', '--salvage', '-O', 'qcow2', path('cut.qcow2'), path('x.qcow2')]);
    expect(ended).toMatchObject({ code: 0, err: matching(/could not be read and are zero now/) });
    expect(ended.err).toMatch(/of the disk in all/);
    const { out } = await run(['convert', '--salvage', '--json', path('cut.qcow2'), path('x.raw')]);
    expect(JSON.parse(out).lost.bytes).toBeGreaterThan(0);
    expect(Buffer.compare(readFileSync(path('x.raw')).subarray(0, 3 * MiB), bytes.subarray(0, 3 * MiB))).toBe(
      0,
    );
  });

  it('copies bitmaps', async () => {
    await done('convert', '-O', 'qcow2', source, path('marked.qcow2'));
    await done('bitmap', '--add', path('marked.qcow2'), 'b');
    await poke(path('marked.qcow2'), 'qcow2', 0, noise(1000, 3));
    await done('convert', '--bitmaps', '-O', 'qcow2', path('marked.qcow2'), path('also.qcow2'));
    const [before, after] = await Promise.all(
      ['marked.qcow2', 'also.qcow2'].map((name) => done('bitmap', '--list', '--json', path(name))),
    );
    expect(JSON.parse(after as string)).toEqual(JSON.parse(before as string));
  });

  it('tells the target by its own name when it fails', async () => {
    const ended = await run([
      'convert',
      '--bitmaps',
      '-O',
      'qcow2',
      '-f',
      'raw',
      source,
      path('named.qcow2'),
    ]);
    expect(ended.code).toBe(1);
    expect(ended.err).not.toContain('.partial');
    expect(partials()).toEqual([]);
  });
});
