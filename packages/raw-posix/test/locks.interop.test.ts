import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createRegistry, type NodeOptions } from '@blockyard/core';
import { loadFailure, native } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { missingTool, pattern, scratch } from './support.ts';

const at = await scratch();
const registry = createRegistry([rawPosix()]);
const reason = native ? missingTool('qemu-io') : `no native addon: ${loadFailure()}`;

/** A qemu-io that has the image open, until it is told to quit. */
async function holder(...args: string[]): Promise<{ quit(): Promise<void> }> {
  const child: ChildProcess = spawn('qemu-io', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return {
    async quit() {
      child.stdin?.end('quit\n');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** Whether the command got the image, or was refused for its lock. */
function tries(command: string, ...args: string[]): 'opened' | 'refused' {
  const { stderr, status } = spawnSync(command, args, { encoding: 'utf8', input: '' });
  if (/Failed to get .*lock/.test(stderr)) return 'refused';
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return 'opened';
}

describe.skipIf(reason)(`locks against the real qemu${reason ? ` (${reason})` : ''}`, () => {
  const open = (name: string, options: Partial<NodeOptions> = {}) =>
    registry.open({ driver: 'file', filename: at(name), ...options });
  const make = (name: string) => writeFile(at(name), pattern(1 << 16));
  const inUse = { code: 'ERR_IN_USE' };

  it('we are refused what qemu-io writes', async () => {
    await make('theirs');
    const qemu = await holder('-f', 'raw', at('theirs'));
    try {
      await expect(open('theirs')).rejects.toMatchObject(inUse);
      await expect(open('theirs', { readOnly: true })).rejects.toMatchObject(inUse);
      await using forced = await open('theirs', { readOnly: true, forceShare: true });
      expect(await forced.read(0, 10)).toEqual(pattern(10));
    } finally {
      await qemu.quit();
    }
    await (await open('theirs')).close();
  });

  it('qemu is refused what we write', async () => {
    await make('ours');
    const writer = await open('ours');
    expect(tries('qemu-io', '-f', 'raw', '-c', 'write 0 512', at('ours'))).toBe('refused');
    // Of raw bytes qemu's own readers share everything; of a format they do not.
    expect(tries('qemu-img', 'info', '-f', 'raw', at('ours'))).toBe('opened');
    await writer.close();
    expect(tries('qemu-io', '-f', 'raw', '-c', 'write 0 512', at('ours'))).toBe('opened');
  });

  it('readers share, and no writer joins them', async () => {
    await make('readers');
    const reader = await open('readers', { readOnly: true });
    expect(tries('qemu-img', 'info', '-f', 'raw', at('readers'))).toBe('opened');
    expect(tries('qemu-io', '-r', '-f', 'raw', '-c', 'read 0 512', at('readers'))).toBe('opened');
    expect(tries('qemu-io', '-f', 'raw', '-c', 'write 0 512', at('readers'))).toBe('refused');
    const qemu = await holder('-r', '-f', 'raw', at('readers'));
    await (await open('readers', { readOnly: true })).close();
    await qemu.quit();
    await reader.close();
  });

  it('a qcow2 image in use is refused, both ways', async () => {
    spawnSync('qemu-img', ['create', '-q', '-f', 'qcow2', at('q'), '1M']);
    const qemu = await holder('-f', 'qcow2', at('q'));
    await expect(open('q')).rejects.toMatchObject(inUse);
    await expect(open('q', { readOnly: true })).rejects.toMatchObject(inUse);
    await qemu.quit();
    await using _writer = await open('q');
    expect(tries('qemu-io', '-f', 'qcow2', '-c', 'write 0 512', at('q'))).toBe('refused');
    expect(tries('qemu-img', 'check', '-f', 'qcow2', at('q'))).toBe('refused');
    expect(tries('qemu-img', 'info', '-f', 'qcow2', at('q'))).toBe('refused');
    expect(tries('qemu-img', 'info', '-U', '-f', 'qcow2', at('q'))).toBe('opened');
  });
});
