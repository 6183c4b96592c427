import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, header, told } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { directory, path } = scratch();
const MiB = 1 << 20;
const partials = () => readdirSync(directory).filter((name) => name.endsWith('.partial'));
const matching = (text: RegExp) => expect.stringMatching(text) as string;

describe('create', () => {
  it('makes a raw image unless another format is said', async () => {
    expect(await done('create', path('a.raw'), '3M')).toMatch(/a\.raw: raw, 3 MiB \(3145728 bytes\)\n$/);
    expect(readFileSync(path('a.raw')).equals(Buffer.alloc(3 * MiB))).toBe(true);
    expect(await done('create', '-q', path('quiet.raw'), '1')).toBe('');
    expect(statSync(path('quiet.raw')).size).toBe(1);
    await done('create', '-o', 'preallocation=full', path('full.raw'), '1M');
    expect(statSync(path('full.raw')).blocks * 512).toBeGreaterThanOrEqual(MiB);
  });

  it('makes a qcow2 image with the options of qemu-img', async () => {
    const options =
      'cluster_size=4k,refcount_bits=64,lazy_refcounts=on,compression_type=zstd,extended_l2=off';
    await done('create', '-f', 'qcow2', '-o', options, '-o', 'compat=v3', path('a.qcow2'), '1.5G');
    expect(header(path('a.qcow2'))).toMatchObject({
      version: 3,
      clusterSize: 4096,
      size: 1536 * MiB,
      refcountBits: 64,
      compatible: 1,
    });
    expect(await told(path('a.qcow2'))).toMatchObject({
      format: 'qcow2',
      'format-specific': { data: { 'compression-type': 'zstd' } },
    });
    await done('create', '-f', 'qcow2', '-o', 'clusterSize=64k,compat=0.10,size=5M', path('old.qcow2'));
    expect(header(path('old.qcow2'))).toMatchObject({ version: 2, size: 5 * MiB });
    expect(partials()).toEqual([]);
  });

  it('tells what it made as JSON', async () => {
    expect(JSON.parse(await done('create', '--json', '-f', 'qcow2', path('told.qcow2'), '1M'))).toEqual({
      filename: path('told.qcow2'),
      format: 'qcow2',
      'virtual-size': MiB,
    });
  });

  it('leaves what is there alone without --overwrite', async () => {
    writeFileSync(path('there.qcow2'), 'precious');
    expect(await run(['create', '-f', 'qcow2', path('there.qcow2'), '1M'])).toMatchObject({
      code: 1,
      err: matching(/there\.qcow2: it exists already.*--overwrite/),
    });
    expect(readFileSync(path('there.qcow2'), 'utf8')).toBe('precious');
    await done('create', '--overwrite', '-f', 'qcow2', path('there.qcow2'), '1M');
    expect(header(path('there.qcow2')).size).toBe(MiB);
  });

  it.each([
    [['-o', 'cluster_size=3k'], /cluster_size is 3072; it must be a power of two/],
    [['-o', 'refcount_bits=7'], /refcount_bits/],
    [['-o', 'compat=0.10,lazy_refcounts=on'], /lazy_refcounts needs compat '1\.1'/],
    [['-o', 'data_file_raw=on'], /data_file/],
    [['-o', 'data_file=refused.qcow2'], /its data file has the same name/],
  ])('refuses %j and leaves nothing', async (flags, message) => {
    const ended = await run(['create', '-f', 'qcow2', ...flags, path('refused.qcow2'), '1M']);
    expect(ended).toMatchObject({ code: 1, out: '', err: matching(message) });
    expect(existsSync(path('refused.qcow2'))).toBe(false);
    expect(partials()).toEqual([]);
  });

  it('knows no other formats', async () => {
    expect(await run(['create', '-f', 'vmdk', path('x'), '1M'])).toMatchObject({
      code: 1,
      err: matching(/no format is named 'vmdk'/),
    });
    expect(await run(['create', path('nowhere/x'), '1M'])).toMatchObject({
      code: 1,
      err: matching(/directory does not exist/),
    });
  });
});

describe('create with a backing file', () => {
  writeFileSync(path('base.raw'), noise(2 * MiB));

  it('takes its size and shows its content', async () => {
    const out = await done('create', '-f', 'qcow2', '-b', 'base.raw', '-F', 'raw', path('over.qcow2'));
    expect(out).toMatch(/2 MiB .*backed by base\.raw \(raw\)/);
    expect(await told(path('over.qcow2'))).toMatchObject({
      'virtual-size': 2 * MiB,
      'backing-filename': 'base.raw',
      'backing-filename-format': 'raw',
    });
    expect(await digest(path('over.qcow2'))).toBe(await digest(path('base.raw'), '-f', 'raw'));
    await done('create', '-f', 'qcow2', '-o', 'backing_file=base.raw,backing_fmt=raw', path('o.qcow2'), '5M');
    expect(header(path('o.qcow2')).size).toBe(5 * MiB);
  });

  it('needs its format, and tells what it seems to be', async () => {
    expect(await run(['create', '-f', 'qcow2', '-b', 'over.qcow2', path('p.qcow2')])).toMatchObject({
      code: 1,
      err: matching(/format of the backing file over\.qcow2 is not said; say it \(-F qcow2/),
    });
    expect(
      await run(['create', '-f', 'qcow2', '-b', 'base.raw', '-F', 'vmdk', path('p.qcow2')]),
    ).toMatchObject({
      code: 1,
      err: matching(/no format is named 'vmdk'/),
    });
    expect(existsSync(path('p.qcow2'))).toBe(false);
  });

  it('says so when it is in another directory', async () => {
    mkdirSync(path('sub'));
    const made = await run(['create', '-f', 'qcow2', '-b', '../base.raw', '-F', 'raw', path('sub/o.qcow2')]);
    expect(made).toMatchObject({
      code: 0,
      err: matching(/not in the directory of .*needs --references allow/),
    });
    expect((await run(['resize', path('sub/o.qcow2'), '+1M'])).code).toBe(1);
    await done('resize', '--references', 'allow', path('sub/o.qcow2'), '+1M');
  });

  it('opens it, but for -u', async () => {
    const argv = ['create', '-f', 'qcow2', '-b', 'none.qcow2', '-F', 'qcow2', path('q.qcow2'), '1M'];
    expect(await run(argv)).toMatchObject({ code: 1, err: matching(/none\.qcow2.*-u makes the image/) });
    expect(existsSync(path('q.qcow2'))).toBe(false);
    expect((await run(['create', '-u', ...argv.slice(1)])).code).toBe(0);
    expect((await told(path('q.qcow2')))['backing-filename']).toBe('none.qcow2');
  });

  it('is not the image itself', async () => {
    await done('create', '-q', '-f', 'qcow2', path('self.qcow2'), '1M');
    for (const flags of [[], ['-u']]) {
      const argv = ['create', ...flags, '--overwrite', '-f', 'qcow2', '-b', 'self.qcow2', '-F', 'qcow2'];
      expect(await run([...argv, path('self.qcow2'), '1M'])).toMatchObject({
        code: 1,
        err: matching(/its own backing file/),
      });
    }
    expect(await told(path('self.qcow2'))).not.toHaveProperty('backing-filename');
  });

  it('is not for raw images', async () => {
    expect(await run(['create', '-b', 'base.raw', '-F', 'raw', path('r.raw')])).toMatchObject({
      code: 1,
      err: matching(/a raw image has no backing file/),
    });
  });
});

describe('create with a data file', () => {
  it('makes it beside the image, under its name at the end', async () => {
    await done('create', '-f', 'qcow2', '-o', 'data_file=d.raw,data_file_raw=on', path('d.qcow2'), '3M');
    expect(statSync(path('d.raw')).size).toBe(3 * MiB);
    expect(await told(path('d.qcow2'))).toMatchObject({
      'format-specific': { data: { 'data-file': 'd.raw', 'data-file-raw': true } },
    });
    expect(partials()).toEqual([]);
  });

  it('leaves one that is there alone without --overwrite', async () => {
    writeFileSync(path('e.raw'), 'precious');
    const argv = ['create', '-f', 'qcow2', '-o', 'data_file=e.raw', path('e.qcow2'), '1M'];
    expect(await run(argv)).toMatchObject({ code: 1, err: matching(/e\.raw: it exists already/) });
    expect(readFileSync(path('e.raw'), 'utf8')).toBe('precious');
    expect(existsSync(path('e.qcow2'))).toBe(false);
    expect((await run([...argv, '--overwrite'])).code).toBe(0);
    expect(readFileSync(path('e.raw')).includes('precious')).toBe(false);
  });
});
