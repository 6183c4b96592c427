import { createRegistry, memory, passThrough } from '@blockyard/core';
import { expect, test } from 'vitest';

const drivers = createRegistry([memory(), passThrough()]);

test('a disk reads back what was written, through a filter', async () => {
  const disk = await drivers.open({ driver: 'pass-through', file: { driver: 'memory', size: 1 << 20 } });
  const data = Uint8Array.from({ length: 5000 }, (_, i) => i % 251);
  await disk.write(70_001, data);
  expect(await disk.read(70_001, 5000)).toEqual(data);
  const extents = [];
  for await (const { offset, length, zero } of disk.extents()) extents.push({ offset, length, zero });
  expect(extents).toEqual([
    { offset: 0, length: 65536, zero: true },
    { offset: 65536, length: 65536, zero: false },
    { offset: 131072, length: 917504, zero: true },
  ]);
  await disk.close();
  await expect(disk.read(0, 1)).rejects.toMatchObject({ code: 'ERR_NODE_CLOSED' });
});

test('a huge empty disk is one extent, found at once', async () => {
  const disk = await drivers.open({ driver: 'memory', size: 2 ** 50 });
  await disk.write(2 ** 49, Uint8Array.of(1));
  const extents = [];
  for await (const { length, data } of disk.extents()) extents.push([length, data]);
  expect(extents).toEqual([
    [2 ** 49, false],
    [65536, true],
    [2 ** 49 - 65536, false],
  ]);
});
