import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mounted, noFileSystem, noLoopDevices } from './loop.ts';
import { cases, isRoot, pattern, same, scratch } from './support.ts';

const at = await scratch();
const MiB = 1 << 20;

for (const [type, size] of [
  ['tmpfs', 4 * MiB],
  ['ext4', 16 * MiB],
  ['xfs', 320 * MiB],
] as const) {
  const missing =
    type === 'tmpfs' ? (isRoot ? undefined : 'needs root') : (noLoopDevices() ?? noFileSystem(type));
  const directory = missing ? undefined : await mounted(type, at, size);
  const reason = directory ? undefined : (missing ?? 'cannot be mounted here');
  for (const one of cases) {
    const skip = reason ?? one.skip;
    describe.skipIf(skip)(`${type}: ${one.name}${skip ? ` (${skip})` : ''}`, () => {
      const path = (name: string) => join(directory ?? '', `${name}-${one.name.replace(/[: ]/g, '-')}`);
      const create = async (name: string, bytes: number) => {
        await one.registry.drivers.get('file')?.createFile?.({ filename: path(name) }, { size: bytes });
        return path(name);
      };

      it('reads, writes, zeroes and discards', async () => {
        await using disk = await one.open(await create('io', MiB + 13), { discard: 'unmap' });
        const contents = pattern(MiB + 13);
        await disk.write(0, contents);
        await disk.writeZeroes(5000, 100_000);
        await disk.writeZeroes(200_000, 100_000, { mayUnmap: true });
        contents.fill(0, 5000, 105_000).fill(0, 200_000, 300_000);
        same(await disk.read(0, MiB + 13), contents);
        await disk.flush();
        for await (const extent of disk.extents()) {
          const bytes = contents.subarray(extent.offset, extent.offset + extent.length);
          if (extent.zero) expect(bytes.every((byte) => byte === 0)).toBe(true);
        }
        await disk.discard(0, MiB + 13);
        expect(disk.size).toBe(MiB + 13);
        await disk.truncate(0, { shrink: true });
      });

      it.skipIf(one.host !== 'native')(
        `copies ranges${one.host === 'native' ? '' : ' (needs the native addon)'}`,
        async () => {
          await using from = await one.open(await create('from', MiB));
          await using to = await one.open(await create('to', MiB));
          await from.write(0, pattern(MiB));
          await from.flush();
          for (let done = 0; done < MiB; ) {
            const count = await to.node.copyRange(from.node, done, done, MiB - done);
            if (count === 0) break;
            done += count;
            same(await to.read(0, done), pattern(MiB).subarray(0, done));
          }
          await from.truncate(0, { shrink: true });
          await to.truncate(0, { shrink: true });
        },
      );

      it.skipIf(type !== 'tmpfs')(
        `a full file system is reported, and the disk goes on${type === 'tmpfs' ? '' : ' (a small one: tmpfs)'}`,
        async () => {
          const filename = await create('full', 8 * MiB);
          const disk = await one.open(filename);
          const half = pattern(4 * MiB);
          await expect(
            disk
              .write(0, half)
              .then(() => disk.write(4 * MiB, half))
              .then(() => disk.flush()),
          ).rejects.toMatchObject({
            code: 'ENOSPC',
            path: filename,
          });
          same(await disk.read(0, 4096), half.subarray(0, 4096));
          await expect(disk.truncate(16 * MiB, { preallocation: 'falloc' })).rejects.toMatchObject({
            code: 'ENOSPC',
          });
          expect(disk.size).toBe(8 * MiB);
          expect((await stat(filename)).size).toBe(8 * MiB);
          await disk.truncate(0, { shrink: true });
          await disk.close();
          const { createFile } = one.registry.drivers.get('file') ?? {};
          const creation = { size: 8 * MiB, preallocation: 'full' };
          await expect(createFile?.({ filename: path('new') }, creation)).rejects.toMatchObject({
            code: 'ENOSPC',
          });
          await expect(stat(path('new'))).rejects.toMatchObject({ code: 'ENOENT' });
        },
      );
    });
  }
}
