import { type BlockNode, type CreateContext, createRegistry, memory } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { checkImage } from '../src/check/check-image.ts';
import { parseHeader, qcow2 } from '../src/index.ts';
import { readHeader } from '../src/read-header.ts';
import { contentOf, journaled, powerCuts } from './support/journal.ts';
import { readAll } from './support/open.ts';

const registry = createRegistry([memory()]);
const context: CreateContext = {
  registry,
  createFile: async (_name, size) => await registry.openNode({ driver: 'memory', size }),
};
const create = async (target: BlockNode, options: Record<string, unknown> & { size: number }) =>
  await qcow2().create?.(target, options, context);

const cases = [
  { size: 0 },
  { size: 1000 },
  { size: 5 << 20, clusterSize: 512 },
  { size: 1 << 20, clusterSize: 512, refcountBits: 1, preallocation: 'metadata' },
  { size: 1 << 20, clusterSize: 512, refcountBits: 64, preallocation: 'metadata' },
  { size: 300_001, clusterSize: 4096, preallocation: 'full' },
  { size: 1 << 20, extendedL2: true, clusterSize: 16384, preallocation: 'metadata' },
  { size: 1 << 20, compat: '0.10', backingFile: 'base', backingFormat: 'raw' },
  { size: 1 << 20, dataFile: 'x', dataFileRaw: true },
];

describe('a new image', () => {
  it.each(cases)('is sound, empty and as large as asked: %o', async (options) => {
    const { file } = await journaled(new Uint8Array(0));
    await create(file, options);
    expect(await checkImage(file)).toMatchObject({ corruptions: 0, leaks: 0, checkErrors: 0 });
    expect((await readHeader(file)).size).toBe(options.size);
    if ('dataFile' in options) return;
    const shown = await readAll(await contentOf(file), { backing: null });
    expect([shown.length, shown.every((byte) => byte === 0)]).toEqual([options.size, true]);
  });

  it.each(cases)('is no image before it is whole: %o', async (options) => {
    const { file, journal } = await journaled(new Uint8Array(0));
    await create(file, options);
    const { requests } = journal;
    const whole = Buffer.from(await contentOf(file));
    for (const torn of powerCuts(new Uint8Array(0), journal.entries, 40)) {
      if (torn.length < 4 || torn[0] === 0) continue;
      expect(whole.equals(torn)).toBe(true);
    }
    for (let fail = 0; fail < requests; fail += 1 + Math.floor(requests / 40)) {
      const broken = await journaled(new Uint8Array(0));
      broken.journal.failFrom = fail;
      await expect(create(broken.file, options)).rejects.toThrow();
      broken.journal.failFrom = Number.POSITIVE_INFINITY;
      // The last flush alone may come too late.
      if (fail < requests - 1) expect((await contentOf(broken.file))[0] ?? 0).toBe(0);
    }
  });

  it('takes no time for a large disk', async () => {
    const target = await registry.openNode({ driver: 'memory', size: 0 });
    await create(target, { size: 2 ** 44 });
    expect(target.size).toBe(7 * 65536);
    expect(await readHeader(target)).toMatchObject({ size: 2 ** 44, l1Size: 32768 });
  });

  it('can be made on a device, where something else was', async () => {
    const data = new Uint8Array(4 << 20).fill(0xee);
    const device = (size: number) =>
      registry.openNode({ driver: 'raw', size, file: { driver: 'memory', data } });
    const options = { size: 1 << 20, clusterSize: 4096, preallocation: 'metadata' };
    await expect(create(await device(1 << 20), options)).rejects.toThrow(
      /needs \d+ bytes, and the target has 1048576/,
    );
    const target = await device(data.length);
    await create(target, options);
    expect(await checkImage(target)).toMatchObject({ corruptions: 0, leaks: 0 });
    expect((await readAll(await contentOf(target))).every((byte) => byte === 0)).toBe(true);
  });

  it('has room for names that only fit without the names of features', async () => {
    const { file } = await journaled(new Uint8Array(0));
    await create(file, { size: 0, clusterSize: 512, backingFile: 'b'.repeat(300), backingFormat: 'qcow2' });
    expect(parseHeader(await contentOf(file))).toMatchObject({
      backingFile: 'b'.repeat(300),
      backingFormat: 'qcow2',
      featureNames: [],
    });
    const longer = { size: 0, clusterSize: 512, backingFile: 'b'.repeat(600), backingFormat: 'qcow2' };
    await expect(create(file, longer)).rejects.toThrow(/does not fit into the first cluster of 512 bytes/);
  });
});
