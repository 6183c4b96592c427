import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import type { IoData } from '@blockyard/core';
import { slice } from '@blockyard/iov-utils';
import { describe, expect, it } from 'vitest';
import { registryWith, systemFailure } from './fake-host.ts';
import { describeCases, pattern, same, scratch } from './support.ts';

const at = await scratch();

const file = async (name: string, contents: Uint8Array): Promise<string> => {
  await writeFile(at(name), contents);
  return at(name);
};

/** At most `most` bytes, vectors included. */
const shorten = (data: IoData, most: number): IoData => {
  const length = Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.length;
  return slice(data, 0, Math.min(most, length));
};

describe('short counts', () => {
  const registry = registryWith((inner) => ({
    read: (position, into, signal) => inner.read(position, shorten(into, 100), signal),
    write: (position, from, signal) => inner.write(position, shorten(from, 100), signal),
  }));

  it('are continued', async () => {
    const contents = pattern(10_000);
    const filename = await file('short', contents);
    await using disk = await registry.open({ driver: 'file', filename });
    same(await disk.read(0, 10_000), contents);
    const parts = [pattern(77, 2), pattern(301, 3), pattern(5, 4)];
    await disk.write(1000, parts);
    contents.set(Buffer.concat(parts), 1000);
    same(await readFile(filename), contents);
    const into = [new Uint8Array(150), new Uint8Array(250)];
    await disk.read(900, into);
    same(Buffer.concat(into), contents.subarray(900, 1300));
  });
});

describe.each(['EINTR', 'EAGAIN'])('%s', (code) => {
  it('is tried again', async () => {
    let left = 3;
    const flaky = <T>(work: () => Promise<T>): Promise<T> =>
      left-- > 0 ? Promise.reject(systemFailure(code)) : work();
    const registry = registryWith((inner) => ({
      read: (...args) => flaky(() => inner.read(...args)),
      write: (...args) => flaky(() => inner.write(...args)),
    }));
    const filename = await file(code, pattern(1000));
    await using disk = await registry.open({ driver: 'file', filename });
    same(await disk.read(0, 1000), pattern(1000));
    left = 3;
    await disk.write(0, pattern(1000, 2));
    same(await readFile(filename), pattern(1000, 2));
  });

  it('is believed in the end', async () => {
    const registry = registryWith(() => ({ read: () => Promise.reject(systemFailure(code)) }));
    const filename = await file(`${code}-forever`, pattern(10));
    await using disk = await registry.open({ driver: 'file', filename });
    await expect(disk.read(0, 10)).rejects.toMatchObject({ code });
  });
});

describe('errors', () => {
  it('a write that takes nothing is an error, not a loop', async () => {
    const registry = registryWith(() => ({ write: () => Promise.resolve(0) }));
    const filename = await file('nothing', pattern(100));
    const disk = await registry.open({ driver: 'file', filename });
    await expect(disk.write(10, pattern(20))).rejects.toMatchObject({ code: 'EIO', offset: 10, length: 20 });
    await disk.close();
  });

  it('a full disk half way through is reported', async () => {
    let calls = 0;
    const registry = registryWith((inner) => ({
      write: (position, from, signal) =>
        ++calls === 1
          ? inner.write(position, shorten(from, 10), signal)
          : Promise.reject(systemFailure('ENOSPC')),
    }));
    const filename = await file('full', pattern(100));
    const disk = await registry.open({ driver: 'file', filename });
    await expect(disk.write(0, pattern(100))).rejects.toMatchObject({
      code: 'ENOSPC',
      path: filename,
      op: 'write',
      message: /write of 100 bytes at 0 in .*free space/,
    });
    await disk.close();
  });

  it('EIO carries the place', async () => {
    const registry = registryWith(() => ({ read: () => Promise.reject(systemFailure('EIO')) }));
    const filename = await file('eio', pattern(100));
    await using disk = await registry.open({ driver: 'file', filename });
    const failure = {
      code: 'EIO',
      kind: 'system',
      driver: 'file',
      op: 'read',
      offset: 5,
      length: 50,
      path: filename,
    };
    await expect(disk.read(5, 50)).rejects.toMatchObject(failure);
    expect(disk.stats.failed).toBe(1);
  });

  it('a failed flush makes every later one fail', async () => {
    let calls = 0;
    const registry = registryWith((inner) => ({
      sync: (dataOnly) => (++calls === 1 ? Promise.reject(systemFailure('EIO')) : inner.sync(dataOnly)),
    }));
    const filename = await file('flush', pattern(100));
    const disk = await registry.open({ driver: 'file', filename });
    await disk.write(0, pattern(10));
    await expect(disk.flush()).rejects.toMatchObject({ code: 'EIO', op: 'flush', message: /may be lost/ });
    await disk.write(0, pattern(10));
    await expect(disk.flush()).rejects.toMatchObject({ code: 'EIO' });
    await expect(disk.write(0, pattern(10), { fua: true })).rejects.toMatchObject({ code: 'EIO' });
    await expect(disk.close()).rejects.toMatchObject({ code: 'EIO' });
    expect(calls).toBe(1);
  });

  it('a tail whose size cannot be put back is an error', async () => {
    const registry = registryWith(() => ({ truncate: () => Promise.reject(systemFailure('EPERM')) }));
    const filename = await file('restore', pattern(600));
    const disk = await registry.open({ driver: 'file', filename, cache: { direct: true } });
    expect(disk.limits.requestAlignment).toBeGreaterThan(1);
    await expect(disk.write(590, pattern(10))).rejects.toMatchObject({ code: 'EPERM', op: 'write' });
    await disk.close();
  });
});

describeCases(
  'others change the file',
  () => true,
  (one) => {
    const name = one.name.replace(/[: ]/g, '-');

    it('what was cut off is an error with both sizes, not zeroes', async () => {
      const filename = await file(`cut-${name}`, pattern(20_000));
      await using disk = await one.open(filename, { locking: 'off' });
      await truncate(filename, 9_000);
      const failure = { code: 'EIO', offset: 9_000, message: /has 9000 bytes and had 20000/ };
      await expect(disk.read(8_000, 2_000)).rejects.toMatchObject(failure);
      await expect(disk.read(12_000, 10)).rejects.toMatchObject({ code: 'EIO' });
      // Direct reads are of whole blocks, so there the rest of the last one is lost as well.
      const left = one.direct ? 8_192 : 9_000;
      same(await disk.read(8_000, left - 8_000), pattern(20_000).subarray(8_000, left));
      if (disk.supports.blockStatus)
        await expect(disk.blockStatus(12_000, 100)).rejects.toMatchObject({ code: 'EIO' });
      expect(disk.size).toBe(20_000);
      await disk.node.refreshLimits();
      expect(disk.size).toBe(9_000);
    });

    it('growth is seen on refresh, and where the end is read', async () => {
      const filename = await file(`grown-${name}`, pattern(1000));
      await using disk = await one.open(filename, { locking: 'off' });
      await appendFile(filename, pattern(500, 2));
      expect(disk.size).toBe(1000);
      if (one.direct) {
        await disk.read(990, 10);
        expect(disk.size).toBe(1500);
      }
      if (disk.supports.blockStatus) await disk.blockStatus(0, 1000);
      else await disk.node.refreshLimits();
      expect(disk.size).toBe(1500);
      same(await disk.read(1000, 500), pattern(500, 2));
    });

    it('the tail’s own way over the end is not taken for growth', async () => {
      const filename = await file(`tail-${name}`, pattern(1000));
      await using disk = await one.open(filename);
      const work: Promise<unknown>[] = [];
      for (let i = 0; i < 20; i++) {
        work.push(disk.write(900 + i, pattern(1, i)), disk.read(880, 10));
        if (disk.supports.blockStatus) work.push(disk.blockStatus(0, 1000));
      }
      await Promise.all(work);
      expect(disk.size).toBe(1000);
      expect((await stat(filename)).size).toBe(1000);
    });
  },
);
