import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlockDriver, createRegistry } from '@blockyard/core';
import { rawPosix } from '@blockyard/raw-posix';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { qcow2 } from '../src/index.ts';

const registry = createRegistry([rawPosix(), qcow2()] as unknown as BlockDriver[]);
const MiB = 2 ** 20;
let directory: string;
const path = (name: string) => join(directory, name);
const create = (name: string, options: Record<string, unknown>) =>
  registry.create(path(name), { format: 'qcow2', ...options });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'blockyard-create-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('creating an image in a file', () => {
  it('makes its data file beside it', async () => {
    await create('vm.qcow2', { size: MiB, dataFile: 'vm.data', preallocation: 'falloc' });
    expect(statSync(path('vm.data')).size).toBe(MiB);
    const settings = { format: 'qcow2', options: { readOnly: true }, references: 'same-directory' as const };
    await using disk = await registry.open(path('vm.qcow2'), settings);
    expect((await disk.read(0, MiB)).every((byte) => byte === 0)).toBe(true);
  });

  it('takes the size of the backing image where none is given', async () => {
    await create('base.qcow2', { size: 3 * MiB + 5 });
    await create('top.qcow2', { backingFile: 'base.qcow2', backingFormat: 'qcow2' });
    const told = await registry.inspect(path('top.qcow2'), { format: 'qcow2' });
    expect(told).toMatchObject({
      virtualSize: 3 * MiB + 5,
      backingFile: 'base.qcow2',
      backingFormat: 'qcow2',
    });
    await expect(create('x', { backingFile: 'missing', backingFormat: 'raw' })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(create('x', {})).rejects.toThrow(/a new image needs its size/);
    expect(readdirSync(directory).sort()).toEqual(['base.qcow2', 'top.qcow2']);
  });

  it('says which options there are', async () => {
    await expect(create('x', { size: MiB, colour: 1 })).rejects.toThrow(
      /colour: a new qcow2 image has no such option; it has backingFile, .*refcountBits/,
    );
    await expect(create('x', { size: MiB, compat: '3' })).rejects.toThrow(/compat: expected '0.10' \| '1.1'/);
    await expect(registry.create(path('x'), { size: 1, clusterSize: 512 })).rejects.toThrow(
      /a new raw image/,
    );
    expect(readdirSync(directory)).toEqual([]);
  });

  it('leaves what was there alone when options are wrong, and replaces it only when that is said', async () => {
    writeFileSync(path('vm.qcow2'), 'mine');
    await expect(create('vm.qcow2', { size: MiB })).rejects.toMatchObject({ code: 'ERR_TARGET_EXISTS' });
    const wrong = { size: MiB, overwrite: true, compat: '0.10', extendedL2: true };
    await expect(create('vm.qcow2', wrong)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    expect(readFileSync(path('vm.qcow2'), 'utf8')).toBe('mine');
    await create('vm.qcow2', { size: MiB, overwrite: true });
    expect(statSync(path('vm.qcow2')).size).toBe(196_616);
  });

  it('removes what it made when it cannot be finished', async () => {
    writeFileSync(path('taken'), 'mine');
    await expect(create('vm.qcow2', { size: MiB, dataFile: 'taken' })).rejects.toMatchObject({
      code: 'ERR_TARGET_EXISTS',
    });
    await expect(create('vm.qcow2', { size: MiB, dataFile: 'no/such/place' })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(create('vm.qcow2', { size: MiB, dataFile: 'nbd://host/disk' })).rejects.toThrow(
      /no registered driver speaks nbd/,
    );
    const long = { size: MiB, clusterSize: 512, backingFile: 'b'.repeat(600), backingFormat: 'raw' };
    await expect(create('vm.qcow2', long)).rejects.toThrow(/does not fit/);
    expect(readdirSync(directory)).toEqual(['taken']);
    expect(readFileSync(path('taken'), 'utf8')).toBe('mine');
  });

  it('does not take the image itself for its data file', async () => {
    symlinkSync('vm.qcow2', path('other'));
    for (const dataFile of ['vm.qcow2', './vm.qcow2', 'other']) {
      const options = { size: MiB, dataFile, overwrite: true };
      await expect(create('vm.qcow2', options)).rejects.toThrow(/which is its own/);
    }
    expect(readdirSync(directory)).toEqual(['other']);
  });

  it('can be aborted', async () => {
    const options = {
      size: 64 * MiB,
      clusterSize: 512,
      preallocation: 'metadata',
      signal: AbortSignal.abort(),
    };
    await expect(create('vm.qcow2', options)).rejects.toMatchObject({ name: 'AbortError' });
    expect(readdirSync(directory)).toEqual([]);
  });
});
