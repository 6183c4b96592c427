import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { directory, path } = scratch();
const MiB = 1 << 20;
const bytes = noise(3 * MiB + 777);
bytes.fill(0, MiB, 2 * MiB);
const source = path('source.raw');
writeFileSync(source, bytes);
const same = (file: string, expected: Uint8Array = bytes) =>
  Buffer.compare(readFileSync(file), expected) === 0;
const partials = () => readdirSync(directory).filter((name) => name.endsWith('.partial'));

describe('convert', () => {
  it('makes a sparse copy, silently', async () => {
    const target = path('copy.raw');
    expect(await run(['convert', source, target])).toMatchObject({ code: 0, out: '', err: '' });
    expect(same(target)).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o644 & ~process.umask());
    expect(partials()).toEqual([]);
  });

  it('tells what it did as JSON', async () => {
    const { out } = await run(['convert', '--json', '--verify', source, path('told.raw')]);
    expect(JSON.parse(out)).toMatchObject({
      size: bytes.length,
      bytesRead: expect.any(Number),
      verified: true,
    });
  });

  it('does not overwrite, and does with --overwrite', async () => {
    const target = path('there.raw');
    writeFileSync(target, 'precious');
    chmodSync(target, 0o600);
    const refused = await run(['convert', source, target]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/exists already.*--overwrite/) });
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect((await run(['convert', '--overwrite', source, target])).code).toBe(0);
    expect(same(target)).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  });

  it('with --overwrite replaces what a link leads to', async () => {
    mkdirSync(path('elsewhere'));
    writeFileSync(path('elsewhere/real.raw'), 'old');
    symlinkSync('elsewhere/real.raw', path('link.raw'));
    expect((await run(['convert', '--overwrite', source, path('link.raw')])).code).toBe(0);
    expect(same(path('elsewhere/real.raw'))).toBe(true);
    expect(same(path('link.raw'))).toBe(true);
    symlinkSync('nowhere', path('dangling.raw'));
    expect(await run(['convert', source, path('dangling.raw')])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/leads to nothing/),
    });
  });

  it('with -n writes into what is there', async () => {
    const target = path('in-place.raw');
    writeFileSync(target, noise(4 * MiB, 9));
    expect(await run(['convert', '-n', '--verify', source, target])).toMatchObject({ code: 0, err: '' });
    const expected = Buffer.concat([bytes, noise(4 * MiB, 9).subarray(bytes.length)]);
    expect(same(target, expected)).toBe(true);
    expect(await run(['convert', '-n', source, path('not-there.raw')])).toMatchObject({ code: 1 });
    writeFileSync(path('small.raw'), new Uint8Array(1000));
    const small = await run(['convert', '-n', source, path('small.raw')]);
    expect(small).toMatchObject({ code: 1, err: expect.stringMatching(/^.*1000 bytes.*3146505.*\n$/) });
  });

  it('takes a window as a target with -n', async () => {
    const target = path('window.raw');
    writeFileSync(target, noise(8 * MiB, 3));
    const size = 4 * MiB;
    expect((await run(['convert', '-n', '-o', `offset=1M,size=${size}`, source, target])).code).toBe(0);
    const expected = noise(8 * MiB, 3);
    expected.set(bytes, MiB);
    expect(same(target, expected)).toBe(true);
    expect((await run(['convert', '-o', 'offset=1M', source, path('no')])).code).toBe(2);
  });

  it.each(['off', 'falloc', 'full'])('provides space as -o preallocation=%s says', async (preallocation) => {
    const target = path(`prealloc-${preallocation}.raw`);
    const { code, err } = await run(['convert', '-o', `preallocation=${preallocation}`, source, target]);
    if (code === 1 && preallocation === 'falloc' && /ERR_NOT_SUPPORTED|ENOTSUP|EOPNOTSUPP|node:fs/.test(err))
      return;
    expect([code, err]).toEqual([0, '']);
    expect(same(target)).toBe(true);
  });

  it('with -S 0 leaves no holes', async () => {
    const target = path('full.raw');
    expect((await run(['convert', '-S', '0', source, target])).code).toBe(0);
    expect(same(target)).toBe(true);
    expect(statSync(target).blocks * 512).toBeGreaterThanOrEqual(bytes.length);
  });

  it.each(['none', 'writethrough', 'directsync', 'unsafe', 'writeback'])(
    'copies with the cache mode %s',
    async (mode) => {
      const target = path(`cache-${mode}.raw`);
      expect((await run(['convert', '-t', mode, '-T', mode, '-m', '3', '-W', source, target])).code).toBe(0);
      expect(same(target)).toBe(true);
    },
  );

  it('refuses the source as target, by any of its names', async () => {
    symlinkSync(source, path('alias.raw'));
    for (const flags of [['-n'], ['--overwrite']]) {
      const result = await run(['convert', ...flags, source, path('alias.raw')]);
      expect(result).toMatchObject({ code: 1, err: expect.stringMatching(/same file/) });
    }
    expect(same(source)).toBe(true);
  });

  it.each([
    [['-O', 'vmdk'], /no format is named 'vmdk'/],
    [['-c'], /-c/],
    [['-B', 'base.raw'], /-B/],
    [['--bitmaps'], /--bitmaps/],
    [['-O', 'qcow2', '-B', 'base.raw'], /base\.raw.*no such file/],
    [['-l', 'one'], /no internal snapshots/],
    [['-f', 'vmdk'], /no format is named 'vmdk'/],
    [['-f', 'qcow2'], /source\.raw/],
  ])('refuses %j with exit code 1', async (flags, message) => {
    const target = path('refused.raw');
    expect(await run(['convert', ...flags, source, target])).toMatchObject({
      code: 1,
      err: expect.stringMatching(message),
    });
    expect(existsSync(target)).toBe(false);
    expect(partials()).toEqual([]);
  });

  it('refuses options that a raw target does not have', async () => {
    expect(await run(['convert', '-o', 'compat=1.1', source, path('x')])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/-o compat/),
    });
    expect(await run(['convert', '-o', 'preallocation=some', source, path('x')])).toMatchObject({ code: 2 });
  });

  it('refuses directories, and takes any name for a name', async () => {
    expect(await run(['convert', source, directory])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/directory/),
    });
    for (const name of ['with space.raw', 'ünï☃.raw', 'a:b.raw', '-dash.raw', 'n'.repeat(255)]) {
      const before = process.cwd();
      process.chdir(directory);
      try {
        expect(await run(['convert', '--', source, name])).toMatchObject({ code: 0, err: '' });
        expect(same(path(name))).toBe(true);
        expect((await run(['compare', '--', name, source])).code).toBe(0);
      } finally {
        process.chdir(before);
      }
    }
  });

  it('says what is wrong with the place of the target, by its own name', async () => {
    const { code, err } = await run(['convert', source, path('no/such/x.raw')]);
    expect(code).toBe(1);
    expect(err).toMatch(/^blockyard: write to .*no\/such\/x\.raw: its directory does not exist.*\n$/);
  });

  it('refuses a directory that is not there before it reads', async () => {
    const endless = JSON.stringify({ driver: 'null', size: 2 ** 42 });
    for (const [name, why] of [
      ['new-directory/', /name of a directory/],
      ['no/y.raw', /its directory does not exist/],
      ['source.raw/y.raw', /should be its directory is none/],
    ] as const)
      expect(await run(['convert', '-S', '0', endless, path(name)])).toMatchObject({
        code: 1,
        err: expect.stringMatching(why) as string,
      });
    expect(await run(['convert', source, '/dev/stdout'])).toMatchObject({
      code: 1,
      err: expect.stringContaining("say '-'") as string,
    });
    expect(await run(['convert', source, 'ssh:foo'])).toMatchObject({ code: 1 });
    expect(existsSync('ssh:foo')).toBe(false);
    expect(partials()).toEqual([]);
  });

  it('notes that a name promises another format', async () => {
    for (const [flags, err] of [
      [[], /^blockyard: note: .*name ends in \.qcow2/],
      [['-q'], /^$/],
      [['-O', 'raw'], /^$/],
    ] as const) {
      const argv = ['convert', '--overwrite', ...flags, source, path('named.qcow2')];
      expect(await run(argv)).toMatchObject({ code: 0, err: expect.stringMatching(err) as string });
    }
  });

  it('types --source-options by the format that is found', async () => {
    for (const options of ['offset=512,size=1k', 'offset=512,size=1k,file.aio=threads']) {
      const target = path(`window-${options.length}.raw`);
      expect(await run(['convert', '--source-options', options, source, target])).toMatchObject({
        code: 0,
        err: '',
      });
      expect(same(target, bytes.subarray(512, 1536))).toBe(true);
    }
  });

  it('says -U of locks only', async () => {
    expect((await run(['convert', '-n', source, source])).err).toMatch(/same file; choose another target\n$/);
  });

  it('recognises what is packed, and refuses it by name', async () => {
    for (const [head, name] of [
      ['\xfd7zXZ\0', 'xz'],
      ['\x1f\x8b\x08', 'gzip'],
      ['KDMV', 'VMDK'],
    ] as const) {
      writeFileSync(path('foreign'), Buffer.concat([Buffer.from(head, 'latin1'), new Uint8Array(4096)]));
      expect(await run(['convert', path('foreign'), path('no.raw')])).toMatchObject({
        code: 1,
        err: expect.stringContaining(name),
      });
      expect(
        (await run(['convert', '-f', 'raw', '--overwrite', path('foreign'), path('yes.raw')])).code,
      ).toBe(0);
    }
  });

  it('writes to and reads from a graph', async () => {
    const graph = JSON.stringify({
      driver: 'raw',
      size: MiB,
      offset: 1000,
      file: { driver: 'file', filename: source },
    });
    expect((await run(['convert', graph, path('graph.raw')])).code).toBe(0);
    expect(same(path('graph.raw'), bytes.subarray(1000, 1000 + MiB))).toBe(true);
    expect(
      (
        await run([
          'convert',
          '--image-opts',
          `driver=raw,file.driver=file,file.filename=${source}`,
          path('opts.raw'),
        ])
      ).code,
    ).toBe(0);
    expect(same(path('opts.raw'))).toBe(true);
    expect((await run(['convert', source, '{"driver":"null","size":"5"}'])).err).toMatch(/size: expected/);
    expect((await run(['convert', source, '{"driver":"null","size":10000000}'])).code).toBe(0);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const graph = JSON.stringify({ driver: 'null', size: 2 ** 33 });
    const target = path('stopped.raw');
    const controller = new AbortController();
    const { Interrupted } = await import('../src/exit.ts');
    setTimeout(() => controller.abort(new Interrupted('SIGINT')), 30);
    const { code, err } = await run(['convert', '-S', '0', graph, target], { signal: controller.signal });
    expect(code).toBe(130);
    expect(err).toMatch(
      /interrupted by SIGINT\nblockyard: the unfinished copy was removed; .*stopped\.raw was not made/,
    );
    expect(existsSync(target)).toBe(false);
    expect(partials()).toEqual([]);
  });
});

describe('streams', () => {
  it('go to standard output in order', async () => {
    const { code, bytes: written } = await run(['convert', source, '-']);
    expect(code).toBe(0);
    expect(Buffer.compare(written, bytes)).toBe(0);
    expect((await run(['convert', '--verify', source, '-'])).code).toBe(2);
  });

  it('come from standard input, of any length', async () => {
    for (const length of [0, 1, 70_000, bytes.length]) {
      const target = path(`from-${length}.raw`);
      const chunks = Array.from({ length: Math.ceil(length / 65_000) }, (_, i) =>
        bytes.subarray(i * 65_000, Math.min(length, (i + 1) * 65_000)),
      );
      expect(await run(['convert', '-', target], { stdin: chunks })).toMatchObject({ code: 0, err: '' });
      expect(same(target, bytes.subarray(0, length))).toBe(true);
    }
  });

  it('are looked at before the target is made', async () => {
    for (const [head, name] of [
      ['\x1f\x8b\x08', 'gzip'],
      ['QFI\xfb\0\0\0\x03', 'qcow2'],
    ] as const) {
      const stdin = [Buffer.concat([Buffer.from(head, 'latin1'), new Uint8Array(8192)])];
      const result = await run(['convert', '-', path('packed.raw')], { stdin });
      expect(result).toMatchObject({ code: 1, err: expect.stringContaining(name) });
      expect(existsSync(path('packed.raw'))).toBe(false);
    }
    expect((await run(['convert', '-f', 'qcow2', '-', path('x')])).code).toBe(2);
  });

  it('that break leave no target', async () => {
    async function* broken() {
      yield bytes;
      throw new Error('the pipe broke');
    }
    const result = await run(['convert', '-', path('broken.raw')], { stdin: broken() });
    expect(result).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the pipe broke\nblockyard: the unfinished copy was removed/),
    });
    expect(existsSync(path('broken.raw'))).toBe(false);
    expect(partials()).toEqual([]);
  });
});

describe('checksums', () => {
  const digest = createHash('sha256').update(bytes).digest('hex');

  it('go on after an image that fails', async () => {
    const { code, out, err } = await run(['checksum', source, path('missing'), source]);
    expect([code, out]).toEqual([1, `${digest}  ${source}\n`.repeat(2)]);
    expect(err).toMatch(/^blockyard: open .*missing.*\n$/);
    const json = await run(['checksum', '--json', source, path('missing')]);
    expect(JSON.parse(json.out)).toMatchObject([{ image: source, digest }]);
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'ENOENT' } });
    expect((await run(['checksum', '--json', path('missing')])).out).toBe('');
  });

  it('are taken of a stream', async () => {
    expect(await run(['checksum', '-'], { stdin: [bytes] })).toMatchObject({
      code: 0,
      out: `${digest}  -\n`,
      err: '',
    });
    const stdin = [Buffer.from('QFI\xfb\0\0\0\x03', 'latin1')];
    expect(await run(['checksum', '-'], { stdin })).toMatchObject({ code: 1, out: '' });
    expect((await run(['checksum', '-f', 'qcow2', '-'])).code).toBe(2);
  });
});

it('an image that is cut short is said to be', async () => {
  writeFileSync(path('short'), Buffer.from('QFI\xfb', 'latin1'));
  expect(await run(['info', path('short')])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/has 4 bytes.*cut short/) as string,
  });
});
