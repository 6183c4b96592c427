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
    [['check', 'a'], /qemu-img's check is not in this version/],
    [['create', 'a'], /qemu-img's create is not in this version/],
    [['convert', '-r', '5M', 'a', 'b'], /convert -r: limiting the rate is not in this version/],
    [['convert', 'a', 'b', 'c'], /takes 2, here are 3; several sources/],
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
    ])
      expect(await run(argv)).toMatchObject({
        code: 0,
        out: expect.stringContaining('preallocation=') as string,
        err: '',
      });
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
