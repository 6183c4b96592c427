import { createRegistry, type Disk, passThrough } from '@blockyard/core';
import { equals } from '@blockyard/iov-utils';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { offsetMemory, type StrictNode, type StrictOptions, strict } from './support/strict.ts';

const drivers = createRegistry([strict()]);

async function open(options: StrictOptions, common: object = {}): Promise<{ disk: Disk; node: StrictNode }> {
  const disk = await drivers.open({ driver: 'strict', ...options, ...common });
  return { disk, node: disk.node as StrictNode };
}

const pattern = (length: number, seed = 1) =>
  Uint8Array.from({ length }, (_, i) => (i * 7 + seed) % 255 || 1);

test('an aligned request reaches the driver once, in the caller memory', async () => {
  const { disk, node } = await open({
    size: 65536,
    limits: { requestAlignment: 512, minMemAlignment: 512 },
    memory: offsetMemory,
  });
  await disk.write(512, pattern(1024));
  await disk.read(512, new Uint8Array(1024));
  expect(node.calls.map(({ op, offset, length }) => [op, offset, length])).toEqual([
    ['write', 512, 1024],
    ['read', 512, 1024],
  ]);
  expect(disk.stats).toMatchObject({ bounces: 0, padded: 0, splits: 0 });
});

test('an unaligned write reads, modifies and writes its blocks, and changes nothing else', async () => {
  const { disk, node } = await open({ size: 4096, limits: { requestAlignment: 512 } });
  await disk.write(0, pattern(4096));
  const expected = pattern(4096);
  expected.set([1, 2, 3], 1000);
  await disk.write(1000, Uint8Array.of(1, 2, 3));
  expect(node.bytes).toEqual(expected);
  expect(disk.stats).toMatchObject({ padded: 1, bounces: 1, bouncedBytes: 3 });
});

test('the last block of an odd size is padded without changing the size', async () => {
  const { disk, node } = await open({ size: 1000, limits: { requestAlignment: 512 } });
  await disk.write(990, pattern(10));
  expect(disk.size).toBe(1000);
  expect(await disk.read(980, 20)).toEqual(Uint8Array.of(...new Uint8Array(10), ...pattern(10)));
  expect(node.calls.map((call) => call.op)).toEqual(['read', 'write', 'read']);
});

test('a request over the limits is split at them', async () => {
  const { disk, node } = await open({ size: 65536, limits: { requestAlignment: 512, maxTransfer: 4096 } });
  await disk.write(0, pattern(10240));
  expect(node.calls.map((call) => call.length)).toEqual([4096, 4096, 2048]);
  expect(disk.stats.splits).toBe(2);
  const many = Array.from({ length: 2000 }, (_, i) => Uint8Array.of(i % 251));
  await disk.write(3, many);
  expect(await disk.read(3, 2000)).toEqual(Uint8Array.from(many, (one) => one[0] as number));
});

test('memory that falls short of the minimum is copied, and only then', async () => {
  const { disk } = await open({
    size: 1 << 20,
    limits: { requestAlignment: 512, minMemAlignment: 512, optMemAlignment: 4096 },
    memory: offsetMemory,
  });
  const slab = new Uint8Array(1 << 20);
  await disk.read(0, slab.subarray(512, 512 + 65536));
  expect(disk.stats.bounces).toBe(0);
  await disk.read(0, slab.subarray(100, 100 + 65536));
  expect(disk.stats).toMatchObject({ bounces: 1, bouncedBytes: 65536 });
  // A large unaligned range copies its ends only, where the memory between is aligned.
  await disk.read(512 - 12, slab.subarray(500, 500 + 131072));
  expect(disk.stats.bouncedBytes).toBe(65536 + 512);
  expect(offsetMemory.lent).toBe(0);
});

test('overlapping unaligned writes are serialised, and no byte is lost', async () => {
  const waiting: (() => void)[] = [];
  const { disk, node } = await open({
    size: 512,
    limits: { requestAlignment: 512 },
    before: () => new Promise<void>((resolve) => waiting.push(resolve)),
  });
  const writes = Array.from({ length: 16 }, (_, i) => disk.write(i * 32, new Uint8Array(32).fill(i + 1)));
  let settled = false;
  const all = Promise.all(writes).then(() => {
    settled = true;
  });
  while (!settled) {
    expect(waiting.length).toBeLessThanOrEqual(1);
    for (const resume of waiting.splice(0)) resume();
    await new Promise(setImmediate);
  }
  await all;
  expect(node.bytes).toEqual(Uint8Array.from({ length: 512 }, (_, i) => Math.floor(i / 32) + 1));
  expect(disk.stats.serialised).toBe(15);
});

test('aligned writes are not serialised', async () => {
  let active = 0;
  let most = 0;
  const { disk } = await open({
    size: 65536,
    limits: { requestAlignment: 512 },
    before: async () => {
      most = Math.max(most, ++active);
      await new Promise(setImmediate);
      active--;
    },
  });
  await Promise.all(Array.from({ length: 8 }, (_, i) => disk.write(i * 512, pattern(512))));
  expect(most).toBe(8);
  expect(disk.stats.serialised).toBe(0);
});

test('fua is passed to a driver that has it, and becomes a flush for one that has not', async () => {
  const has = await open({ size: 4096 });
  await has.disk.write(0, pattern(10), { fua: true });
  expect(has.node.calls).toEqual([{ op: 'write', offset: 0, length: 10, flags: { fua: true } }]);
  const lacks = await open({ size: 4096, supports: { fua: false } });
  await lacks.disk.write(0, pattern(10), { fua: true });
  await lacks.disk.writeZeroes(0, 10, { fua: true });
  expect(lacks.node.calls.map((call) => call.op)).toEqual(['write', 'flush', 'writeZeroes', 'flush']);
});

test('after a failure every piece settles before the promise does', async () => {
  const released: string[] = [];
  const { disk } = await open({
    size: 65536,
    limits: { requestAlignment: 512, maxTransfer: 4096 },
    before: async (call) => {
      if (call.offset === 0) throw Object.assign(new Error('no'), { code: 'EIO' });
      await new Promise((resolve) => setTimeout(resolve, 5));
      released.push(`${call.offset}`);
    },
  });
  const failing = disk.read(0, 65536);
  await expect(failing).rejects.toMatchObject({
    code: 'EIO',
    op: 'read',
    offset: 0,
    length: 65536,
    driver: 'strict',
  });
  expect(released).toEqual(['4096', '8192', '12288']);
  expect(disk.stats.failed).toBe(1);
});

test('any requests on any limits leave what a plain buffer would hold', { timeout: 60_000 }, async () => {
  const size = 20_000;
  const request = fc.record({
    op: fc.constantFrom('read', 'write', 'writeZeroes', 'vector'),
    offset: fc.nat(size - 1),
    length: fc.nat(9000),
    seed: fc.nat(250),
  });
  const limits = fc.record({
    requestAlignment: fc.constantFrom(1, 512, 4096),
    maxTransfer: fc.constantFrom(0, 4096, 8192),
    maxIov: fc.constantFrom(2, 16, 1024),
    pwriteZeroesAlignment: fc.constantFrom(0, 4096),
    maxPwriteZeroes: fc.constantFrom(0, 4096),
  });
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.boolean(),
      fc.array(request, { maxLength: 12 }),
      async (given, zeroes, requests) => {
        const { disk, node } = await open({
          size,
          limits: { ...given, minMemAlignment: 1 },
          supports: { writeZeroes: zeroes },
          before: () => new Promise(setImmediate),
        });
        const model = new Uint8Array(size);
        for (const { op, offset, length, seed } of requests) {
          const end = Math.min(size, offset + length);
          const data = pattern(end - offset, seed);
          if (op === 'write') {
            await disk.write(offset, data);
            model.set(data, offset);
          } else if (op === 'vector') {
            await disk.write(offset, [
              data.subarray(0, 3),
              data.subarray(3, 3),
              data.subarray(3, 700),
              data.subarray(700),
            ]);
            model.set(data, offset);
          } else if (op === 'writeZeroes') {
            await disk.writeZeroes(offset, end - offset);
            model.fill(0, offset, end);
          } else
            expect(equals(await disk.read(offset, end - offset), model.subarray(offset, end))).toBe(true);
        }
        expect(equals(node.bytes.subarray(0, size), model)).toBe(true);
        await disk.close();
      },
    ),
    { numRuns: 150 },
  );
});

test('a filter hands unaligned requests at the end of an odd size to the node that pads them', async () => {
  const file = { driver: 'strict', size: 1000, limits: { requestAlignment: 512 } };
  const disk = await createRegistry([strict(), passThrough()]).open({ driver: 'pass-through', file });
  await disk.write(700, pattern(300));
  expect(await disk.read(700, 300)).toEqual(pattern(300));
  expect(disk.limits.requestAlignment).toBe(1);
  await disk.close();
});
