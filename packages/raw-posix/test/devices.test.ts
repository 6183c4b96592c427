import { readFile, stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { loopDevice, noLoopDevices } from './loop.ts';
import { cases, pattern, same, scratch } from './support.ts';

const at = await scratch();
const MiB = 1 << 20;
const size = 4 * MiB;
const none = noLoopDevices();

for (const sector of [512, 4096]) {
  const backing = at(`backing-${sector}`);
  const device = none ? '' : await loopDevice(backing, size, sector);
  for (const one of cases) {
    const reason = none ?? one.skip;
    describe.skipIf(reason)(
      `loop device, ${sector}-byte sectors: ${one.name}${reason ? ` (${reason})` : ''}`,
      () => {
        it('knows size, sectors and what it cannot do', async () => {
          await using disk = await one.open(device);
          expect(disk.size).toBe(size);
          const { requestAlignment, minMemAlignment, optMemAlignment, maxTransfer, maxHwTransfer, maxHwIov } =
            disk.limits;
          expect(requestAlignment).toBe(one.direct ? sector : 1);
          expect(minMemAlignment).toBeLessThanOrEqual(one.direct ? sector : 1);
          expect(optMemAlignment).toBe(4096);
          // The kernel splits requests itself: its own limits are none of ours.
          expect([maxTransfer, maxHwTransfer, maxHwIov]).toEqual([0, 0, 0]);
          expect(disk.limits.pwriteZeroesAlignment).toBe(sector);
          await expect(disk.truncate(size * 2)).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
          expect(disk.supports.blockStatus).toBe(false);
          expect(await disk.blockStatus(0, 100)).toMatchObject({ data: true, length: 100 });
        });

        it('reads and writes what is not aligned to its sectors', async () => {
          await using disk = await one.open(device);
          const contents = pattern(size);
          await disk.write(0, contents);
          await disk.write(sector - 3, pattern(10, 2));
          contents.set(pattern(10, 2), sector - 3);
          await disk.write(size - 5, pattern(5, 3));
          contents.set(pattern(5, 3), size - 5);
          await disk.flush();
          same(await disk.read(0, size), contents);
          same(await readFile(device), contents);
        });

        it('zeroes and discards', async () => {
          await using disk = await one.open(device, { discard: 'unmap' });
          const contents = pattern(size);
          await disk.write(0, contents);
          await disk.flush();
          await disk.writeZeroes(100, 2 * MiB);
          contents.fill(0, 100, 100 + 2 * MiB);
          same(await disk.read(0, size), contents);
          await disk.writeZeroes(0, 2 * MiB, { mayUnmap: true });
          await disk.discard(2 * MiB, 2 * MiB);
          await disk.flush();
          same(await disk.read(0, 2 * MiB), Buffer.alloc(2 * MiB));
          if (one.host === 'native') {
            expect((await stat(backing)).blocks).toBe(0);
            const aligned = disk.stats.zeroFallbacks;
            await disk.writeZeroes(0, MiB, { mayUnmap: true, noFallback: true });
            expect(disk.stats.zeroFallbacks).toBe(aligned);
            await expect(disk.writeZeroes(0, MiB, { noFallback: true })).rejects.toMatchObject({
              code: 'ERR_NOT_SUPPORTED',
            });
          }
        });

        it('leaves what is around a window alone, even inside its last sector', async () => {
          await using whole = await one.open(device, { locking: 'off' });
          const contents = pattern(4 * sector);
          await whole.write(0, contents);
          await whole.flush();
          await using window = await one.open(device, {
            locking: 'off',
            offset: sector,
            size: sector + 100,
            discard: 'unmap',
          });
          await window.write(sector + 90, pattern(10, 9));
          await window.writeZeroes(sector, 80);
          await window.writeZeroes(0, sector + 80);
          await window.flush();
          contents.set(pattern(10, 9), 2 * sector + 90);
          contents.fill(0, sector, 2 * sector + 80);
          same(await whole.read(0, 4 * sector), contents);
        });

        it('refuses a window that starts inside a sector', async () => {
          await expect(one.open(device, { offset: 100 })).rejects.toMatchObject({
            code: 'ERR_INVALID_OPTION',
          });
        });

        it('moves nothing through bounce buffers that is aligned', async () => {
          await using disk = await one.open(device);
          const buffer = disk.allocate(64 * 1024);
          await disk.write(0, buffer);
          await disk.read(0, buffer);
          disk.release(buffer);
          expect(disk.stats).toMatchObject({ bounces: 0, padded: 0, splits: 0 });
        });
      },
    );
  }

  it.skipIf(none)(`createFile checks that the image fits (${none ?? sector})`, async () => {
    const [first] = cases;
    const { createFile } = first?.registry.drivers.get('file') ?? {};
    await createFile?.({ filename: device }, { size });
    await expect(createFile?.({ filename: device }, { size: size + 1 })).rejects.toMatchObject({
      code: 'ENOSPC',
    });
  });
}
