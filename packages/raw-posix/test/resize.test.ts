import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeCases, pattern, same, scratch } from './support.ts';

const at = await scratch();

describeCases(
  'truncate',
  () => true,
  (one) => {
    const make = async (name: string, size: number) => {
      const filename = at(`${name}-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, pattern(size));
      return filename;
    };

    it('grows with a hole and shrinks when it is meant', async () => {
      const filename = await make('off', 5000);
      await using disk = await one.open(filename);
      await disk.truncate(1 << 20);
      expect(disk.size).toBe(1 << 20);
      expect((await stat(filename)).blocks * 512).toBeLessThan(1 << 19);
      same(await disk.read(4990, 20), Buffer.concat([pattern(5000).subarray(4990), Buffer.alloc(10)]));
      await expect(disk.truncate(10)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
      await disk.truncate(10, { shrink: true });
      expect(disk.size).toBe(10);
      same(await readFile(filename), pattern(5000).subarray(0, 10));
      await disk.truncate(100);
      same(await disk.read(0, 100), Buffer.concat([pattern(5000).subarray(0, 10), Buffer.alloc(90)]));
    });

    it.each(['falloc', 'full'] as const)('%s takes the space', async (preallocation) => {
      const filename = await make(preallocation, 5001);
      await using disk = await one.open(filename);
      await disk.truncate(3_000_001, { preallocation });
      const { size, blocks } = await stat(filename);
      expect(size).toBe(3_000_001);
      expect(blocks * 512).toBeGreaterThanOrEqual(3_000_001);
      same(await disk.read(0, size), Buffer.concat([pattern(5001), Buffer.alloc(size - 5001)]));
      if (preallocation === 'full' && disk.supports.blockStatus) {
        const { data, length } = await disk.blockStatus(0, size);
        expect({ data, length }).toEqual({ data: true, length: size });
      }
    });

    it('metadata is not for plain files', async () => {
      await using disk = await one.open(await make('metadata', 100));
      await expect(disk.truncate(200, { preallocation: 'metadata' })).rejects.toMatchObject({
        code: 'ERR_NOT_SUPPORTED',
      });
      expect(disk.size).toBe(100);
    });
  },
);
