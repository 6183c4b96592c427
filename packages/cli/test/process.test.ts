import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from './support/built.ts';
import { bin, blockyard } from './support/process.ts';
import { noise, scratch } from './support/scratch.ts';

const { directory, path } = scratch();
const MiB = 1 << 20;
const bytes = noise(4 * MiB);
const source = path('source.raw');
const partials = () => readdirSync(directory).filter((name) => name.endsWith('.partial'));
/** A disk that takes long to copy: all of it is to be written. */
const endless = JSON.stringify({ driver: 'null', size: 2 ** 38 });

beforeAll(async () => {
  writeFileSync(source, bytes);
  await ensureBuilt();
}, 90_000);

describe('the process', { timeout: 30_000 }, () => {
  it('ends with the exit code of what it did', async () => {
    expect(await blockyard(['convert', source, 'copy.raw'], { cwd: directory })).toMatchObject({
      code: 0,
      out: '',
      err: '',
    });
    expect(Buffer.compare(readFileSync(path('copy.raw')), bytes)).toBe(0);
    expect(await blockyard(['compare', source, path('copy.raw')])).toMatchObject({
      code: 0,
      out: 'Images are identical.\n',
    });
    writeFileSync(path('other.raw'), bytes.subarray(0, -1));
    expect(await blockyard(['compare', '-q', source, path('other.raw')])).toMatchObject({
      code: 1,
      out: '',
      err: '',
    });
    expect(await blockyard(['compare', source, path('none.raw')])).toMatchObject({ code: 2, out: '' });
    expect(await blockyard(['convert', source, path('copy.raw')])).toMatchObject({ code: 1 });
    expect(await blockyard(['convert', source])).toMatchObject({ code: 2 });
  });

  it('takes an image from its making to its check', async () => {
    const cli = async (...argv: string[]) => await blockyard(argv, { cwd: directory });
    expect((await cli('create', '-f', 'qcow2', '-b', 'source.raw', '-F', 'raw', 'life.qcow2')).code).toBe(0);
    expect((await cli('snapshot', '-c', 'one', 'life.qcow2')).out).toBe("snapshot 1 'one' created\n");
    expect((await cli('resize', 'life.qcow2', '-1M')).code).toBe(1);
    expect((await cli('snapshot', '-d', 'one', 'life.qcow2')).code).toBe(0);
    expect((await cli('resize', '--shrink', 'life.qcow2', '-1M')).out).toMatch(/3 MiB .*resized from 4 MiB/);
    expect((await cli('rebase', '-b', '', 'life.qcow2')).code).toBe(0);
    expect((await cli('bitmap', '--add', 'life.qcow2', 'b')).code).toBe(0);
    expect((await cli('check', '-q', 'life.qcow2')).code).toBe(0);
    expect((await cli('check', 'source.raw')).code).toBe(63);
    expect((await cli('check', '-r', 'what', 'life.qcow2')).code).toBe(1);
    writeFileSync(path('first.raw'), bytes.subarray(0, 3 * MiB));
    expect((await cli('compare', '-F', 'raw', 'life.qcow2', 'first.raw')).code).toBe(0);
  });

  it('removes what it was making when it is interrupted', async () => {
    const target = path('interrupted.qcow2');
    const ended = await blockyard(['create', '-f', 'qcow2', '-o', 'preallocation=full', target, '100G'], {
      during: async (child) => {
        while (!partials().some((name) => name.includes('interrupted'))) await sleep(10);
        await sleep(50);
        child.kill('SIGINT');
      },
    });
    expect(ended).toMatchObject({ code: 130, out: '' });
    expect(existsSync(target)).toBe(false);
    expect(partials()).toEqual([]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('stops cleanly at %s', async (signal) => {
    const target = path(`${signal}.raw`);
    const ended = await blockyard(['convert', '-S', '0', endless, target], {
      during: async (child) => {
        while (partials().length === 0) await sleep(10);
        await sleep(50);
        child.kill(signal);
      },
    });
    expect(ended).toMatchObject({ code: 130, signal: null });
    expect(ended.err).toMatch(
      new RegExp(
        `^blockyard: interrupted by ${signal}\nblockyard: the unfinished copy was removed; .*was not made\n$`,
      ),
    );
    expect(existsSync(target)).toBe(false);
    expect(partials()).toEqual([]);
  });

  it('says that a target written in place is not whole', async () => {
    writeFileSync(path('in-place.raw'), new Uint8Array(MiB));
    const ended = await blockyard([
      'convert',
      '-n',
      '-S',
      '0',
      '{"driver":"null","size":1048576}',
      path('in-place.raw'),
    ]);
    expect(ended.code).toBe(0);
    const graph = JSON.stringify({ driver: 'null', size: 2 ** 44 });
    const argv = ['convert', '-p', '-S', '0', graph, graph.replace('}', ',"readOnly":false}')];
    const stopped = await blockyard(argv, {
      during: (child) => void child.stderr?.once('data', () => child.kill('SIGINT')),
    });
    expect(stopped.code).toBe(130);
    expect(stopped.err).toMatch(/interrupted by SIGINT\nblockyard: .* was being written in place/);
  });

  it('killed at once leaves only a temporary name', async () => {
    const target = path('killed.raw');
    const ended = await blockyard(['convert', '-S', '0', endless, target], {
      during: async (child) => {
        while (partials().length === 0) await sleep(10);
        child.kill('SIGKILL');
      },
    });
    expect(ended.signal).toBe('SIGKILL');
    expect(existsSync(target)).toBe(false);
    expect(partials()).toEqual([expect.stringMatching(/^\.killed\.raw\.[0-9a-f]{8}\.partial$/)]);
  });

  it('ends without a word when nobody reads', async () => {
    const ended = await blockyard(['convert', endless, '-'], {
      during: (child) => void child.stdout?.once('data', () => child.stdout?.destroy()),
    });
    expect(ended).toMatchObject({ code: 141, err: '' });
  });

  const full = existsSync('/dev/full');
  it.skipIf(!full).each([
    ['convert', 1],
    ['info', 1],
    ['map', 1],
    ['checksum', 1],
    ['compare', 2],
    ['--help', 1],
  ] as const)('says in one line that standard output took nothing of %s', async (command, exitCode) => {
    const names: Record<string, string[]> = {
      convert: [source, '-'],
      compare: [source, source],
      '--help': [],
    };
    const argv = [command, ...(names[command] ?? [source])];
    for (const json of command === 'convert' || command === '--help' ? [[]] : [[], ['--json']]) {
      const { status, stderr } = spawnSync(process.execPath, [bin, ...argv, ...json], {
        encoding: 'utf8',
        stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      });
      const message = expect.stringMatching(
        /^write to standard output: no space left on device \(ENOSPC\)/,
      ) as string;
      const said = stderr.replaceAll(/^blockyard: note: @.*\n/gm, '');
      expect(status).toBe(exitCode);
      if (json.length > 0) expect(JSON.parse(said)).toMatchObject({ error: { code: 'ENOSPC', message } });
      else {
        expect(said.replace('blockyard: ', '')).toEqual(message);
        expect(said.split('\n').length).toBe(2);
      }
    }
  });

  it('tells where the bytes of a raw file are without the addon', async () => {
    const env = { BLOCKYARD_NATIVE: 'off' };
    expect((await blockyard(['map', source], { env })).out).toMatch(/0 +0x400000 +0 +\/.*source\.raw\n$/);
    const window = JSON.stringify({
      driver: 'raw',
      offset: 512,
      size: 1024,
      file: { driver: 'file', filename: source },
    });
    expect(JSON.parse((await blockyard(['map', '--json', window], { env })).out)).toMatchObject([
      { start: 0, length: 1024, offset: 512 },
    ]);
  });

  it('says in plain words that an image is in use', async () => {
    writeFileSync(path('used.raw'), new Uint8Array(MiB));
    let ended: Awaited<ReturnType<typeof blockyard>> | undefined;
    let shared: typeof ended;
    let replaced: typeof ended;
    let resized: typeof ended;
    const { spawn } = await import('node:child_process');
    // Waits for standard input with the target open.
    const child = spawn(process.execPath, [bin, 'convert', '-n', '-', path('used.raw')], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    try {
      child.stdin.write(new Uint8Array(8192));
      await sleep(700);
      ended = await blockyard(['info', path('used.raw')]);
      shared = await blockyard(['info', '-U', path('used.raw')]);
      replaced = await blockyard(['create', '--overwrite', path('used.raw'), '1M']);
      resized = await blockyard(['resize', '-f', 'raw', path('used.raw'), '2M']);
    } finally {
      child.kill('SIGKILL');
    }
    if (ended.notices.length > 0) return;
    expect(ended.err).toMatch(/in use: another program has it open for writing; .* with -U \(/);
    expect(ended.err).not.toMatch(/forceShare|permission|command line/);
    expect(shared.code).toBe(0);
    for (const refused of [replaced, resized]) {
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toMatch(
        /in use: .* close it there \(a running VM, another open of this program\)\n$/,
      );
    }
  });

  it('reads standard input', async () => {
    expect(await blockyard(['convert', '-', path('piped.raw')], { stdin: bytes })).toMatchObject({
      code: 0,
      err: '',
    });
    expect(Buffer.compare(readFileSync(path('piped.raw')), bytes)).toBe(0);
  });

  it('is stopped while it waits for standard input', async () => {
    await ensureBuilt();
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, [bin, 'convert', '-', path('waiting.raw')], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin.on('error', () => {});
    child.stdin.write(bytes);
    while (!partials().some((name) => name.includes('waiting.raw'))) await sleep(10);
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(130);
    expect(existsSync(path('waiting.raw'))).toBe(false);
  });

  it('without the addon says so once, and not with -q', async () => {
    const env = { BLOCKYARD_NATIVE: 'off' };
    const { code, err, notices } = await blockyard(['convert', source, path('fallback.raw')], { env });
    expect([code, err]).toEqual([0, '']);
    expect(notices).toEqual([expect.stringMatching(/^blockyard: note: .*node:fs.*\n$/)]);
    expect(Buffer.compare(readFileSync(path('fallback.raw')), bytes)).toBe(0);
    expect(await blockyard(['convert', '-q', source, path('quiet.raw')], { env })).toMatchObject({
      code: 0,
      err: '',
      notices: [],
    });
    expect((await blockyard(['probe'], { env })).out).toMatch(/native addon +no, switched off/);
  });

  const root = process.getuid?.() === 0 && process.platform === 'linux';
  it.skipIf(!root)('on a full disk fails, and leaves nothing (needs root, for a small tmpfs)', async () => {
    const small = path('small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]);
    try {
      for (const flags of [
        [],
        ['-t', 'none'],
        ['-o', 'preallocation=falloc'],
        ['-o', 'preallocation=full'],
        ['-O', 'qcow2'],
        ['-O', 'qcow2', '-c', '-W'],
        ['-O', 'qcow2', '-o', 'preallocation=full'],
        ['-O', 'qcow2', '-o', 'data_file=data.raw'],
      ]) {
        const ended = await blockyard(['convert', ...flags, source, join(small, 'full.raw')]);
        expect(ended).toMatchObject({ code: 1, err: expect.stringMatching(/ENOSPC|no space/i) });
        expect(readdirSync(small)).toEqual([]);
      }
    } finally {
      execFileSync('umount', [small]);
    }
  });
});
