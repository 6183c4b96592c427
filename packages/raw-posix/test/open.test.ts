import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRegistry, type NodeOptions } from '@blockyard/core';
import { native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { openError } from '../src/open-errors.ts';
import { registryWith, systemFailure } from './fake-host.ts';
import { isRoot, pattern, run, same, scratch } from './support.ts';

const at = await scratch();
await writeFile(at('a'), pattern(1000));
const registry = createRegistry([rawPosix()]);
const open = (options: Partial<NodeOptions>, which = registry) =>
  which.open({ driver: 'file', filename: at('a'), ...options });

describe('what cannot be opened', () => {
  it('a missing file', async () => {
    await expect(open({ filename: at('missing') })).rejects.toMatchObject({
      code: 'ENOENT',
      op: 'open',
      path: at('missing'),
    });
  });

  it('a directory', async () => {
    await expect(open({ filename: dirname(at('a')) })).rejects.toMatchObject({
      code: 'EISDIR',
      message: /is a directory/,
    });
  });

  it('a part of the path that is a file', async () => {
    await expect(open({ filename: at('a/b') })).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('a pipe, without waiting for its other end', async () => {
    run('mkfifo', at('pipe'));
    await expect(open({ filename: at('pipe'), readOnly: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
  });

  it('a socket', async () => {
    const server = createServer().listen(at('socket'));
    await expect(open({ filename: at('socket') })).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
    server.close();
  });

  it('a character device that is no disk', async () => {
    await expect(open({ filename: '/dev/zero', readOnly: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
  });

  it.skipIf(isRoot)(`a file without permission${isRoot ? ' (root may do anything)' : ''}`, async () => {
    await writeFile(at('secret'), '');
    await chmod(at('secret'), 0);
    await expect(open({ filename: at('secret') })).rejects.toMatchObject({
      code: 'EACCES',
      message: /readOnly: true/,
    });
  });

  it('links that lead to one another', async () => {
    await symlink(at('loop'), at('loop'));
    await expect(open({ filename: at('loop') })).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it.each([
    ['EACCES', true, /ask for the right to read/],
    ['EACCES', false, /readOnly: true/],
    ['EROFS', false, /readOnly: true/],
    ['EPERM', false, /immutable/],
    ['EMFILE', false, /ulimit -n/],
    ['EINVAL', true, /refuses direct I\/O; use cache.direct: false/],
    ['EWHATEVER', true, /told by a test/],
  ])('%s says what to do next', (code, readOnly, text) => {
    expect(openError(systemFailure(code), '/x', readOnly, true)).toMatchObject({ code, message: text });
  });

  it('direct I/O where the file system refuses it', async () => {
    const refuse = registryWith(() => ({}), { open: () => Promise.reject(systemFailure('EINVAL')) });
    await expect(open({ cache: { direct: true } }, refuse)).rejects.toMatchObject({
      code: 'EINVAL',
      message: /refuses direct I\/O; use cache.direct: false/,
    });
  });
});

describe('options', () => {
  it.each([
    [{ aio: 'fast' }, /aio: expected 'auto' \| 'io_uring' \| 'native' \| 'threads', got 'fast'/],
    [{ locking: true }, /locking: expected/],
    [{ filename: 5 }, /filename: expected a string/],
    [{ offset: -1 }, /offset: expected a whole number/],
    [{ cachee: {} }, /cachee: .* has no such option/],
    [{ forceShare: true }, /forceShare is for reading only/],
    [{ aio: 'native' }, /asynchronous only for direct I\/O/],
  ])('%j is refused', async (options, message) => {
    await expect(open(options as Partial<NodeOptions>)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message,
    });
  });

  it.each([[{ offset: 1001 }], [{ offset: 1, size: 1000 }], [{ size: 1001 }]])(
    'a window outside of the file: %j',
    async (options) => {
      await expect(open(options)).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS', message: /1000 bytes/ });
    },
  );

  it.each(['io_uring', 'native'])('aio %s without the addon says why', async (aio) => {
    const options = { aio, cache: { direct: true } };
    await expect(
      open(
        options,
        registryWith(() => ({})),
      ),
    ).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: /needs the native addon.*a test/,
    });
  });

  it('locking on without the addon says why', async () => {
    await expect(
      open(
        { locking: 'on' },
        registryWith(() => ({})),
      ),
    ).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
  });

  it('an engine that cannot be set up says why', async () => {
    const failure = Object.assign(new Error('io_uring: EPERM: forbidden here'), { code: 'EPERM' });
    const host = { hasCalls: true, open: () => Promise.reject(failure) };
    await expect(
      open(
        { aio: 'io_uring' },
        registryWith(() => ({}), host),
      ),
    ).rejects.toMatchObject({ message: /io_uring.*EPERM/ });
  });

  it('read-only nodes do not write', async () => {
    await using disk = await open({ readOnly: true });
    await expect(disk.write(0, pattern(1))).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
  });
});

describe('names', () => {
  it('are paths or file URLs', () => {
    const { parseName } = rawPosix();
    const filename = (name: string) => parseName?.(name);
    expect(filename('a b:c')).toEqual({ driver: 'file', filename: 'a b:c' });
    expect(filename('-x')).toEqual({ driver: 'file', filename: '-x' });
    expect(filename('file:rel/a%20b')).toEqual({ driver: 'file', filename: 'rel/a%20b' });
    expect(filename('file:///tmp/a%20b')).toEqual({ driver: 'file', filename: '/tmp/a b' });
    expect(() => filename('file://elsewhere/x')).toThrow(/not a file URL/);
  });

  it('open through the registry', async () => {
    for (const name of [at('a'), pathToFileURL(at('a')).href]) {
      await using disk = await registry.open(name, { format: 'raw' });
      same(await disk.read(0, 1000), pattern(1000));
    }
  });
});

describe('places', () => {
  it('two names of one file are one file, and links are seen through', async () => {
    await mkdir(at('sub'));
    await writeFile(at('sub/base'), 'x');
    await symlink(at('sub/base'), at('link'));
    await using a = await open({ filename: at('link'), readOnly: true });
    await using b = await open({ filename: at('sub/base'), readOnly: true });
    expect(a.node.location.identity).toBe(b.node.location.identity);
    expect(a.node.location.directory).toBe(b.node.location.directory);
    const { locate } = rawPosix();
    const found = await locate?.('sub/base', a.node);
    expect(found).toEqual({
      options: { driver: 'file', filename: at('sub/base') },
      location: b.node.location,
    });
    expect(await locate?.('base', b.node)).toEqual(found);
    expect(await locate?.(`file:${at('link')}`, b.node)).toMatchObject({ location: b.node.location });
    await expect(locate?.('nowhere', b.node)).rejects.toMatchObject({
      code: 'ENOENT',
      message: /names the file 'nowhere'/,
    });
  });

  it('a relative name needs a directory to start from', async () => {
    const memory = await registry.open({ driver: 'raw', file: { driver: 'file', filename: at('a') } });
    const { locate } = rawPosix();
    await expect(locate?.('x', memory.node)).rejects.toMatchObject({ code: 'ENOENT' });
    await memory.close();
  });
});

describe.each(['auto', 'node:fs'] as const)('createFile (%s)', (host) => {
  const { createFile } = rawPosix({ host });
  const make = (name: string, creation: { size: number; exclusive?: boolean; preallocation?: string }) =>
    createFile?.({ filename: at(`${name}-${host.replace(':', '-')}`) }, creation);
  const where = (name: string) => at(`${name}-${host.replace(':', '-')}`);

  it('makes, empties and refuses', async () => {
    await make('new', { size: 12_345 });
    expect((await stat(where('new'))).size).toBe(12_345);
    await writeFile(where('new'), pattern(100));
    await expect(make('new', { size: 5, exclusive: true })).rejects.toMatchObject({
      code: 'ERR_TARGET_EXISTS',
    });
    expect((await stat(where('new'))).size).toBe(100);
    await make('new', { size: 200 });
    same(await readFile(where('new')), Buffer.alloc(200));
  });

  it.each(['falloc', 'full'])('preallocates (%s)', async (preallocation) => {
    await make(preallocation, { size: 1_000_001, preallocation });
    const { size, blocks } = await stat(where(preallocation));
    expect(size).toBe(1_000_001);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  });

  it('touches nothing when it is asked for what it cannot do', async () => {
    await writeFile(where('kept'), pattern(100));
    await expect(make('kept', { size: 10, preallocation: 'metadata' })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
    same(await readFile(where('kept')), pattern(100));
  });

  it('leaves nothing behind when it fails', async () => {
    let calls = 0;
    const full = registryWith((file) => ({
      truncate: (size) => (++calls === 1 ? file.truncate(size) : Promise.reject(systemFailure('EFBIG'))),
    }));
    const failing = full.drivers
      .get('file')
      ?.createFile?.({ filename: where('bad') } as object, { size: 10 });
    await expect(failing).rejects.toMatchObject({ code: 'EFBIG' });
    await expect(stat(where('bad'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(createFile?.({ filename: at('no/such/place') }, { size: 1 })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it.skipIf(!native || host !== 'auto')('does not touch a file in use', async () => {
    await make('used', { size: 1000 });
    await using disk = await open({ filename: where('used'), readOnly: true });
    await expect(make('used', { size: 5 })).rejects.toMatchObject({ code: 'ERR_IN_USE' });
    expect((await stat(where('used'))).size).toBe(1000);
    expect(disk.size).toBe(1000);
  });
});
