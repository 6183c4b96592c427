import { symlink, writeFile } from 'node:fs/promises';
import { createRegistry, type NodeOptions } from '@blockyard/core';
import type { FileCalls } from '@blockyard/native';
import { loadFailure, native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { registryWith, systemFailure } from './fake-host.ts';
import { pattern, scratch } from './support.ts';

const at = await scratch();
const registry = createRegistry([rawPosix()]);
const reason = native ? undefined : `no native addon: ${loadFailure()}`;

describe.skipIf(reason)(`locks${reason ? ` (${reason})` : ''}`, () => {
  const open = (name: string, options: Partial<NodeOptions> = {}) =>
    registry.open({ driver: 'file', filename: at(name), ...options });
  const make = (name: string) => writeFile(at(name), pattern(100));

  it('a writer excludes writers and readers, under any name', async () => {
    await make('writer');
    await symlink(at('writer'), at('writer-link'));
    const writer = await open('writer');
    for (const name of ['writer', 'writer-link']) {
      await expect(open(name)).rejects.toMatchObject({
        code: 'ERR_IN_USE',
        message: /open it with readOnly: true/,
      });
      await expect(open(name, { readOnly: true })).rejects.toMatchObject({
        code: 'ERR_IN_USE',
        message: /forceShare: true/,
      });
    }
    await using shared = await open('writer', { readOnly: true, forceShare: true });
    expect(shared.size).toBe(100);
    await writer.close();
    await (await open('writer')).close();
  });

  it('readers share, and exclude writers', async () => {
    await make('reader');
    const readers = [await open('reader', { readOnly: true }), await open('reader', { readOnly: true })];
    await expect(open('reader')).rejects.toMatchObject({ code: 'ERR_IN_USE' });
    for (const reader of readers) await reader.close();
    await (await open('reader')).close();
  });

  it('a forced reader excludes nobody', async () => {
    await make('forced');
    await using _reader = await open('forced', { readOnly: true, forceShare: true });
    await using writer = await open('forced');
    expect(writer.describe().options).toMatchObject({ locking: 'on' });
  });

  it('off sees nothing and is not seen', async () => {
    await make('off');
    await using off = await open('off', { locking: 'off' });
    await using writer = await open('off');
    await using other = await open('off', { locking: 'off' });
    expect([off, writer, other].map((disk) => disk.describe().options.locking)).toEqual(['off', 'on', 'off']);
  });
});

describe('a file system without locks', () => {
  const refuse = () => Promise.reject(systemFailure('ENOLCK'));
  const refusing = registryWith(
    () => ({ calls: { lock: refuse, testLock: refuse } as unknown as FileCalls }),
    { hasCalls: true },
  );

  it('is an error with locking on, and gone on with in auto', async () => {
    await writeFile(at('nolocks'), pattern(10));
    const options = { driver: 'file', filename: at('nolocks') };
    await expect(refusing.open({ ...options, locking: 'on' })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
    await using disk = await refusing.open(options);
    expect(disk.describe().options.locking).toBe('off');
  });
});
