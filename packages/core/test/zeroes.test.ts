import { BlockError, createRegistry } from '@blockyard/core';
import { expect, test } from 'vitest';
import { type StrictNode, type StrictOptions, strict } from './support/strict.ts';

const drivers = createRegistry([strict()]);

async function open(options: Partial<StrictOptions>, common: object = {}) {
  const disk = await drivers.open({ driver: 'strict', size: 65536, ...options, ...common });
  return { disk, node: disk.node as StrictNode };
}

const ops = (node: StrictNode) =>
  node.calls.map(({ op, offset, length, flags }) => [op, offset, length, flags?.mayUnmap ?? false]);

test('a write of zeroes becomes write-zeroes when asked, with may-unmap when asked', async () => {
  const zeroes = [new Uint8Array(512), new Uint8Array(512)];
  const off = await open({});
  await off.disk.write(0, zeroes);
  expect(ops(off.node)).toEqual([['write', 0, 1024, false]]);
  const on = await open({}, { detectZeroes: 'on' });
  await on.disk.write(0, zeroes);
  await on.disk.write(0, [new Uint8Array(512), Uint8Array.of(0, 0, 1)]);
  expect(ops(on.node)).toEqual([
    ['writeZeroes', 0, 1024, false],
    ['write', 0, 515, false],
  ]);
  expect(on.disk.stats.detectedZeroes).toBe(1);
  const unmap = await open({}, { detectZeroes: 'unmap', discard: 'unmap' });
  await unmap.disk.write(0, zeroes);
  expect(ops(unmap.node)).toEqual([['writeZeroes', 0, 1024, true]]);
});

test("detectZeroes 'unmap' without discard 'unmap' is refused, and a wrong value names the right ones", async () => {
  await expect(open({}, { detectZeroes: 'unmap' })).rejects.toMatchObject({ code: 'ERR_DETECT_ZEROES' });
  await expect(open({}, { detectZeroes: 'yes' })).rejects.toThrow(
    "detectZeroes: expected 'off' | 'on' | 'unmap', got 'yes'",
  );
});

test('zeroes are not looked for where the driver would only write them', async () => {
  const { disk, node } = await open({ supports: { writeZeroes: false } }, { detectZeroes: 'on' });
  await disk.write(0, new Uint8Array(512));
  expect(ops(node)).toEqual([['write', 0, 512, false]]);
  expect(disk.stats.detectedZeroes).toBe(0);
});

test('may-unmap is kept from a driver unless discard is unmap', async () => {
  const kept = await open({});
  await kept.disk.writeZeroes(0, 512, { mayUnmap: true });
  expect(ops(kept.node)).toEqual([['writeZeroes', 0, 512, false]]);
  const passed = await open({}, { discard: 'unmap' });
  await passed.disk.writeZeroes(0, 512, { mayUnmap: true });
  expect(ops(passed.node)).toEqual([['writeZeroes', 0, 512, true]]);
});

test('the fallback writes a shared zero buffer in bounded pieces until all is written', async () => {
  const { disk, node } = await open({ size: 3_000_000, supports: { writeZeroes: false } });
  node.bytes.fill(1);
  await disk.writeZeroes(5, 2_900_000);
  expect(node.calls.map((call) => call.length)).toEqual([(1 << 20) - 5, 1 << 20, 2_900_005 - (2 << 20)]);
  expect(node.bytes.subarray(5, 2_900_005).every((byte) => byte === 0)).toBe(true);
  expect([node.bytes[4], node.bytes[2_900_005]]).toEqual([1, 1]);
  await expect(disk.writeZeroes(0, 512, { noFallback: true })).rejects.toMatchObject({
    code: 'ERR_NOT_SUPPORTED',
  });
});

test('where the driver says no for one range, that range alone is written', async () => {
  const { disk, node } = await open({
    limits: { maxPwriteZeroes: 16384 },
    before: (call) => {
      if (call.op === 'writeZeroes' && call.offset === 16384)
        throw new BlockError('ERR_NOT_SUPPORTED', 'not here');
    },
  });
  node.bytes.fill(1);
  await disk.writeZeroes(0, 65536);
  expect(ops(node)).toEqual([
    ['writeZeroes', 0, 16384, false],
    ['writeZeroes', 16384, 16384, false],
    ['write', 16384, 16384, false],
    ['writeZeroes', 32768, 16384, false],
    ['writeZeroes', 49152, 16384, false],
  ]);
  expect(node.bytes.every((byte) => byte === 0)).toBe(true);
});

test('the ends of a range that are no whole blocks are written as bytes', async () => {
  const { disk, node } = await open({
    size: 65536 - 100,
    limits: { requestAlignment: 512, pwriteZeroesAlignment: 4096 },
  });
  node.bytes.fill(1);
  await disk.writeZeroes(4000, 65536 - 100 - 4000);
  expect(ops(node).filter(([op]) => op === 'writeZeroes')).toEqual([
    ['writeZeroes', 4096, 65536 - 100 - 4096, false],
  ]);
  expect(node.bytes.subarray(0, 4000).every((byte) => byte === 1)).toBe(true);
  expect(node.bytes.subarray(4000, 65436).every((byte) => byte === 0)).toBe(true);
});

test('discard reaches the driver only when asked, in whole blocks, split at the limit', async () => {
  const ignored = await open({});
  await ignored.disk.discard(0, 65536);
  expect(ignored.node.calls).toEqual([]);
  const { disk, node } = await open(
    { size: 65000, limits: { pdiscardAlignment: 4096, maxPdiscard: 16384 } },
    { discard: 'unmap' },
  );
  await disk.discard(100, 20000);
  await disk.discard(49152, 65000 - 49152);
  await disk.discard(100, 200);
  expect(ops(node).map(([op, offset, length]) => [op, offset, length])).toEqual([
    ['discard', 4096, 12288],
    ['discard', 49152, 65000 - 49152],
  ]);
});
