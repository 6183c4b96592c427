import { pipeline } from 'node:stream/promises';
import { createRegistry, memory } from '@blockyard/core';
import { createReadStream, createWriteStream } from '@blockyard/core/node';
import { equals } from '@blockyard/iov-utils';
import { expect, test } from 'vitest';

const drivers = createRegistry([memory()]);
const size = 3_000_001;
const data = Uint8Array.from({ length: size }, (_, i) => i % 253);
const open = (options: object) => drivers.open({ driver: 'memory', ...options });

test('a web stream copies a disk', async () => {
  const from = await open({ data: data.slice() });
  const to = await open({ size });
  await from.readable().pipeTo(to.writable());
  expect(equals(await to.read(0, size), data)).toBe(true);
  expect(to.stats.flushes).toBe(1);
});

test('a node stream copies a range', async () => {
  const from = await open({ data: data.slice() });
  const to = await open({ size });
  await pipeline(createReadStream(from, { start: 10, end: 2_000_000 }), createWriteStream(to, { start: 20 }));
  expect(equals(await to.read(20, 1_999_990), data.subarray(10, 2_000_000))).toBe(true);
});

test('a stream that is too long for its range fails instead of writing past it', async () => {
  const from = await open({ data: data.slice() });
  const to = await open({ size: 100 });
  await expect(from.readable().pipeTo(to.writable())).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
});
