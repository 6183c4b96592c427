import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands/index.ts';
import { run } from './support/run.ts';

describe('the command line', () => {
  it('explains itself, with exit codes and examples', async () => {
    const { code, out, err } = await run(['--help']);
    expect([code, err]).toEqual([0, '']);
    for (const { name, summary } of commands) {
      expect(out).toContain(name);
      expect(out).toContain(summary);
    }
    expect(out).toMatch(/Exit codes:[\s\S]*Examples:/);
    expect((await run(['help'])).out).toBe(out);
  });

  it.each(commands.map(({ name }) => name))('explains %s', async (name) => {
    const { code, out } = await run([name, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: blockyard ${name}`);
    expect(out).toContain('Examples:');
    expect((await run(['help', name])).out).toBe(out);
  });

  it('tells its version', async () => {
    const { out } = await run(['--version']);
    expect(out).toMatch(/^blockyard \d+\.\d+\.\d+\n$/);
  });

  it.each([
    [[], /no command/],
    [['frob'], /there is no command 'frob'/],
    [['conver'], /did you mean convert\?/],
    [['dd', 'if=a'], /qemu-img's dd is not in this version/],
    [['creat', 'a'], /did you mean create\?/],
    [['bitmpa', 'a'], /did you mean bitmap\?/],
    [['convert', '-r', '5M', 'a', 'b'], /convert -r: limiting the rate is not in this version/],
    [['convert', 'a'], /needs a source and a target/],
    [['convert', '-l', 'x', 'a', 'b', 'c'], /-l is for one source, and here are 2/],
    [['convert', '-O', 'qcow2', '-B', 'x', 'a', 'b', 'c'], /-B is for one source/],
    [['convert', '-', 'b', 'c'], /standard input can only be the one source/],
    [['convert', '-F', 'raw', 'a', 'b'], /-F is the format of the backing file/],
    [['convert', '--skip-broken-bitmaps', 'a', 'b'], /is for --bitmaps/],
    [['convert', '--salvage', '--verify', 'a', 'b'], /choose one/],
    [['convert', '-O', 'qcow2', '-n', '-o', 'cluster_size=4k', 'a', 'b'], /-o cluster_size: with -n/],
    [['convert', '-O', 'qcow2', '-o', 'size=4k', 'a', 'b'], /-o size: the size is that of the source/],
    [['create'], /the name of the image is missing/],
    [['create', 'a'], /the size is missing/],
    [['create', 'a', '1x'], /size: expected a size like/],
    [['create', '-f', 'qcow2', '-o', 'size=1M', 'a', '1M'], /size is given twice/],
    [['create', '-f', 'qcow2', '-o', 'clustersize=4k', 'a', '1M'], /did you mean cluster_size\?/],
    [['create', '-f', 'qcow2', '-o', 'frob=4k', 'a', '1M'], /no such option; it has .*cluster_size/],
    [['create', '-f', 'qcow2', '-o', 'compat=3', 'a', '1M'], /-o compat: expected one of 0\.10, 1\.1/],
    [
      ['create', '-f', 'qcow2', '-o', 'lazy_refcounts=maybe', 'a', '1M'],
      /-o lazy_refcounts: expected on or off/,
    ],
    [['create', '-f', 'qcow2', '-o', 'encryption=on', 'a', '1M'], /encrypted images/],
    [['create', '-f', 'qcow2', '-o', 'cluster_size=4k,clusterSize=8k', 'a', '1M'], /given twice/],
    [['create', '-f', 'qcow2', '-F', 'raw', 'a', '1M'], /-F is the format of the backing file/],
    [['create', '-f', 'qcow2', '-u', '-b', 'x', '-F', 'raw', 'a'], /the size is missing: with -u/],
    [['create', '{"driver":"null"}', '1M'], /give its name/],
    [['resize', 'a'], /missing required argument 'size'/],
    [['resize', 'a', '+'], /size: expected a size like/],
    [['resize', 'a', 'b', '-5M'], /too many arguments/],
    [['snapshot', '-c', 'x', '-d', 'y', 'a'], /one at a time/],
    [['snapshot', '-U', '-c', 'x', 'a'], /-U/],
    [['snapshot', '-c', '', 'a'], /empty/],
    [['bitmap', 'a', 'b'], /say what to do/],
    [['bitmap', '--add', 'a'], /the name of the bitmap is missing/],
    [['bitmap', '--clear', '-g', '64k', 'a', 'b'], /-g is for --add/],
    [['bitmap', '--clear', '-b', 'x', 'a', 'b'], /-b is for --merge/],
    [['bitmap', '--list', 'a', 'b'], /--list takes an image/],
    [['amend', 'a'], /say what to change/],
    [['amend'], /the image is missing/],
    [['rebase', 'a'], /new backing file with -b/],
    [['rebase', '-b', '', '-F', 'raw', 'a'], /leave it out/],
    [['convert', '--target-image-opts', 'a', 'driver=file,filename=b'], /needs -n/],
    [['convert', '-m', '200', 'a', 'b'], /-m: .*1 to 128, got '200'/],
    [['compare', '-m', '0', 'a', 'b'], /-m/],
    [['info', '-f'], /the value is missing/],
    [['info', '--image-opts', 'driver=qcow2,file.filname=a'], /file\.filname: a file has no such option/],
    [['--frob'], /unknown option '--frob'/],
    [['info'], /missing required argument 'image'/],
    [['info', 'a', 'b'], /too many arguments/],
    [['info', '--frob', 'a'], /unknown option '--frob'.*blockyard info --help/],
    [['info', '-T', 'sometimes', 'a'], /-T, --cache <mode>: expected one of writeback.*got 'sometimes'/],
    [['info', ''], /empty/],
    [['info', '{bad'], /not JSON/],
    [['info', '-'], /random access/],
    [['convert', '-m', '0', 'a', 'b'], /-m/],
    [['convert', '-S', 'x', 'a', 'b'], /-S/],
    [['convert', '--target-is-zero', 'a', 'b'], /needs -n/],
    [['convert', '-n', '--overwrite', 'a', 'b'], /choose one/],
    [['measure'], /needs an image, or --size/],
    [['completion', 'csh'], /shell: expected one of bash, zsh, fish, got 'csh'/],
  ] as const)('%j is wrong usage: exit 2, one line', async (argv, message) => {
    const words: readonly string[] = argv;
    const made =
      words.includes('-m') || words.includes('-S')
        ? words.map((word) => (word === 'a' ? '{"driver":"null","size":1024}' : word))
        : words;
    const { code, err } = await run(made);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err.trimEnd().split('\n').at(-1)).toMatch(/^blockyard: /);
  });

  it('ends with the 1 of qemu-img where check is not used right: 2 means errors in the image', async () => {
    for (const argv of [['check'], ['check', '-r', 'some', 'a'], ['check', '-r', 'all', '-U', 'a']])
      expect((await run(argv)).code).toBe(1);
  });

  it('gives errors as JSON with --json', async () => {
    const { code, out, err } = await run(['info', '--json', '/nowhere/at all']);
    expect([code, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'ENOENT', op: 'open', path: '/nowhere/at all', message: expect.any(String) },
    });
    expect(JSON.parse((await run(['info', '--json', '--frob', 'a'])).err)).toMatchObject({
      error: { code: 'ERR_USAGE' },
    });
  });

  it('takes --json in front of the command', async () => {
    const { code, err } = await run(['--json', 'info', '/nowhere']);
    expect([code, JSON.parse(err).error.code]).toEqual([1, 'ENOENT']);
  });

  it('lists the options of a target without names', async () => {
    for (const argv of [
      ['convert', '-o', 'help'],
      ['convert', '-O', 'raw', '-o', 'help', 'a', 'b'],
      ['convert', '-o', '?', '-O', 'qcow2'],
      ['create', '-o', 'help'],
      ['create', '-o', 'help', '-f', 'qcow2'],
      ['measure', '-O', 'qcow2', '-o', 'help'],
    ]) {
      const { code, out, err } = await run(argv);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('preallocation=');
      expect(out.includes('cluster_size=SIZE')).toBe(argv.includes('qcow2'));
    }
    expect((await run(['amend', '-o', 'help'])).out).toMatch(/compat=.*\n(.*\n)*.*refcount_bits=/);
  });

  it('knows what a protocol is', async () => {
    expect(await run(['info', 'ssh:foo'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/speaks no ssh:.* write \.\/ssh:foo/) as string,
    });
  });

  it('shows a stack only when asked', async () => {
    expect((await run(['info', '/nowhere'])).err).toMatch(
      /^blockyard: open \/nowhere for reading: there is no such file.*\n$/,
    );
    expect((await run(['info', '/nowhere'], { env: { BLOCKYARD_DEBUG: '1' } })).err).toMatch(/\n\s+at /);
  });

  it('lists drivers with their options', async () => {
    const { out } = await run(['drivers']);
    for (const name of ['qcow2', 'raw', 'file', 'memory', 'null'])
      expect(out).toMatch(new RegExp(`^${name} `, 'm'));
    expect((await run(['drivers', 'file'])).out).toMatch(/aio +auto\|io_uring\|native\|threads/);
    expect(
      JSON.parse((await run(['drivers', '--json'])).out).drivers.map(({ name }: { name: string }) => name),
    ).toContain('qcow2');
    expect((await run(['drivers', 'qcow2'])).out).toMatch(/options of a new image:\n(.*\n)* +clusterSize /);
    expect((await run(['drivers', 'vmdk'])).code).toBe(1);
  });

  it('probes the machine', async () => {
    expect((await run(['probe'])).out).toMatch(/engine threads/);
    expect(JSON.parse((await run(['probe', '--json'])).out)).toMatchObject({
      engines: { threads: {} },
      node: process.version,
    });
  });

  it.each(['bash', 'zsh', 'fish'])('completes in %s', async (shell) => {
    const { code, out } = await run(['completion', shell]);
    expect(code).toBe(0);
    for (const { name } of commands) expect(out).toContain(name);
    expect(out).toContain('same-directory');
    expect(out).not.toContain('undefined');
  });
});
