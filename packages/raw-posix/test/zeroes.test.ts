import { stat, writeFile } from 'node:fs/promises';
import type { FileCalls } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { registryWith, systemFailure } from './fake-host.ts';
import { describeCases, pattern, same, scratch } from './support.ts';

const at = await scratch();
const MiB = 1 << 20;
const allocated = async (filename: string) => (await stat(filename)).blocks * 512;

describeCases(
  'zeroes and holes',
  (one) => one.host === 'native',
  (one) => {
    const make = async (name: string, size = MiB) => {
      const filename = at(`${name}-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, pattern(size));
      return filename;
    };

    it('mayUnmap gives the space back', async () => {
      const filename = await make('unmap');
      await using disk = await one.open(filename, { discard: 'unmap' });
      await disk.writeZeroes(0, MiB / 2, { mayUnmap: true, noFallback: true });
      expect(await allocated(filename)).toBe(MiB / 2);
      same(await disk.read(0, MiB / 2), Buffer.alloc(MiB / 2));
      expect(disk.stats.zeroFallbacks).toBe(0);
    });

    it('without it the space stays', async () => {
      const filename = await make('keep');
      await using disk = await one.open(filename, { discard: 'unmap' });
      await disk.writeZeroes(0, MiB);
      expect(await allocated(filename)).toBeGreaterThanOrEqual(MiB);
      same(await disk.read(0, MiB), Buffer.alloc(MiB));
      expect(disk.stats.zeroFallbacks).toBe(0);
    });

    it('mayUnmap does not unmap where discard is ignored', async () => {
      const filename = await make('ignored');
      await using disk = await one.open(filename);
      await disk.writeZeroes(0, MiB, { mayUnmap: true });
      expect(await allocated(filename)).toBeGreaterThanOrEqual(MiB);
    });

    it('zeroes an odd end without changing the size', async () => {
      const filename = await make('odd', 10_001);
      await using disk = await one.open(filename);
      await disk.writeZeroes(5_001, 5_000);
      same(
        await disk.read(0, 10_001),
        Buffer.concat([pattern(10_001).subarray(0, 5_001), Buffer.alloc(5_000)]),
      );
      expect((await stat(filename)).size).toBe(10_001);
    });

    it('discard gives the space back', async () => {
      const filename = await make('discard');
      await using disk = await one.open(filename, { discard: 'unmap' });
      await disk.discard(0, MiB);
      expect(await allocated(filename)).toBe(0);
      expect(disk.size).toBe(MiB);
    });

    it('detects zeroes in writes', async () => {
      const filename = await make('detect');
      await using disk = await one.open(filename, { discard: 'unmap', detectZeroes: 'unmap' });
      await disk.write(0, new Uint8Array(MiB));
      expect(await allocated(filename)).toBe(0);
      expect(disk.stats).toMatchObject({ detectedZeroes: 1, writes: 0 });
    });

    it('tells data from holes, and forgets what has changed', async () => {
      const filename = at(`map-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, '');
      await using disk = await one.open(filename, { discard: 'unmap' });
      await disk.truncate(4 * MiB);
      await disk.write(MiB, pattern(MiB));
      await disk.write(3 * MiB, pattern(MiB));
      await disk.flush();
      const map = async () => {
        const found: [number, number, boolean][] = [];
        for await (const { offset, length, data } of disk.extents()) found.push([offset, length, data]);
        return found;
      };
      expect(await map()).toEqual([
        [0, MiB, false],
        [MiB, MiB, true],
        [2 * MiB, MiB, false],
        [3 * MiB, MiB, true],
      ]);
      const inside = await disk.blockStatus(MiB + 5, 10);
      expect(inside).toMatchObject({
        offset: MiB + 5,
        length: 10,
        data: true,
        zero: false,
        present: true,
        hostOffset: MiB + 5,
      });
      expect(inside.hostNode).toBe(disk.node);
      // The same region of data again: answered at once, without asking.
      expect(disk.node.blockStatus(MiB + 100, 10)).not.toBeInstanceOf(Promise);
      await disk.discard(MiB, MiB);
      await disk.write(0, pattern(MiB));
      await disk.flush();
      expect(await map()).toEqual([
        [0, MiB, true],
        [MiB, 2 * MiB, false],
        [3 * MiB, MiB, true],
      ]);
    });

    it('adds the window to the place of the data', async () => {
      const filename = await make('window');
      await using disk = await one.open(filename, { offset: 8192, size: 8192 });
      expect(await disk.blockStatus(100, 5000)).toMatchObject({
        offset: 100,
        length: 5000,
        data: true,
        hostOffset: 8292,
      });
    });
  },
);

describe('what the file system refuses', () => {
  const refusing = (code: string, refused: readonly string[]) => {
    const asked: string[] = [];
    const calls = {
      fallocate: async (_fd: number, mode: string) => {
        asked.push(mode);
        if (refused.includes(mode)) throw systemFailure(code);
      },
    } as unknown as FileCalls;
    return { asked, registry: registryWith(() => ({ calls }), { hasCalls: true }) };
  };
  const open = async (registry: ReturnType<typeof registryWith>, name: string) => {
    await writeFile(at(name), pattern(8192));
    return await registry.open({ driver: 'file', filename: at(name), locking: 'off', discard: 'unmap' });
  };

  it('is tried once, in order, and bytes are written at last', async () => {
    const { asked, registry } = refusing('EOPNOTSUPP', ['punch-hole', 'zero-range-keep-size']);
    await using disk = await open(registry, 'refused');
    await disk.writeZeroes(0, 4096, { mayUnmap: true });
    expect(asked).toEqual(['punch-hole', 'zero-range-keep-size']);
    same(await disk.read(0, 4096), Buffer.alloc(4096));
    await disk.writeZeroes(4096, 4096);
    expect(asked).toEqual(['punch-hole', 'zero-range-keep-size', 'punch-hole']);
    await disk.writeZeroes(0, 8192);
    expect(asked).toHaveLength(3);
    expect(disk.stats.zeroFallbacks).toBe(3);
    await expect(disk.writeZeroes(0, 8192, { noFallback: true })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    });
  });

  it('is asked again where only the range was refused', async () => {
    const { asked, registry } = refusing('EINVAL', ['zero-range-keep-size']);
    await using disk = await open(registry, 'range');
    await disk.writeZeroes(0, 4096);
    await disk.writeZeroes(0, 4096);
    expect(asked).toEqual([
      'zero-range-keep-size',
      'punch-hole',
      'keep-size',
      'zero-range-keep-size',
      'punch-hole',
      'keep-size',
    ]);
  });

  it('is an error where it is none of the file system', async () => {
    const { registry } = refusing('ENOSPC', ['zero-range-keep-size']);
    await using disk = await open(registry, 'nospace');
    await expect(disk.writeZeroes(0, 4096)).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('a discard is a hint', async () => {
    const { asked, registry } = refusing('EOPNOTSUPP', ['punch-hole']);
    await using disk = await open(registry, 'hint');
    await disk.discard(0, 8192);
    await disk.discard(0, 8192);
    expect(asked).toEqual(['punch-hole']);
  });
});
