import { createRegistry, memory, passThrough } from '@blockyard/core';
import { expect, test } from 'vitest';
import { link, linkFormat, storeDriver } from './support/store.ts';

const gz = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0);
const store = () =>
  new Map<string, Uint8Array>([
    ['/d/raw', new Uint8Array(1024).fill(1)],
    ['/d/link', link('raw', 'raw')],
    ['/d/disk.gz', gz],
  ]);
const drivers = createRegistry([storeDriver(store()), linkFormat(), memory(), passThrough()]);

test.each([
  [{ driver: 'memory', siez: 5 }, /^siez: driver 'memory' has no such option; it has .*size/],
  [{ driver: 'memory', size: '5' }, "size: expected a whole number between 0 and 2^53 - 1, got '5'"],
  [{ driver: 'pass-through' }, "file: driver 'pass-through' needs this option"],
  [
    { driver: 'pass-through', file: { driver: 'memory', cache: { direct: 1 } } },
    'file.cache.direct: expected true | false, got 1',
  ],
  [
    { driver: 'pass-through', file: { driver: 'memory', cache: { x: 1 } } },
    /^file\.cache\.x: 'file\.cache' has no such option/,
  ],
  [{ driver: 'pass-through', file: 'name' }, "file: expected the options of a node, got 'name'"],
  [{ driver: 'pass-through', file: {} }, 'file.driver: expected the name of a driver, got undefined'],
  [{ driver: 'memory', discard: 'maybe' }, "discard: expected 'ignore' | 'unmap', got 'maybe'"],
])('an option that is wrong is named by its path: %j', async (options, message) => {
  const opening = drivers.open(options as { driver: string });
  await expect(opening).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  await expect(opening).rejects.toThrow(message);
});

test('an unknown driver is named with those that exist', async () => {
  await expect(drivers.open({ driver: 'pass-through', file: { driver: 'vmdk' } })).rejects.toThrow(
    "file.driver: no driver named 'vmdk' is registered; there are raw, file, link, memory, pass-through",
  );
});

test('what is not in a registry cannot be opened', async () => {
  await expect(createRegistry([]).open({ driver: 'memory', size: 1 })).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_DRIVER',
  });
  expect(() => createRegistry([memory(), memory()])).toThrow(TypeError);
});

test('a plain name needs its format, or leave to probe', async () => {
  await expect(drivers.open('/d/raw')).rejects.toMatchObject({ code: 'ERR_FORMAT_REQUIRED' });
  const given = await drivers.open('/d/raw', { format: 'raw' });
  expect(given.describe()).toMatchObject({
    driver: 'raw',
    options: { probed: false },
    children: { file: { driver: 'file' } },
  });
  const found = await drivers.open('/d/link', { probe: true, references: 'same-directory' });
  expect(found.node.driver).toBe('link');
});

test('a compressed file is refused by name, and taken as raw when that is said', async () => {
  await expect(drivers.open('/d/disk.gz', { probe: true })).rejects.toThrow(/this is a gzip-compressed file/);
  expect((await drivers.open('/d/disk.gz', { format: 'raw' })).size).toBe(gz.length);
});

test('a disk that was probed raw refuses to become another format', async () => {
  const disk = await drivers.open('/d/raw', { probe: true });
  await expect(disk.write(0, link('x', 'raw'))).rejects.toMatchObject({ code: 'ERR_PROBED_RAW', offset: 0 });
  await expect(disk.write(0, [Uint8Array.of(0x4c), link('x', 'raw').subarray(1)])).rejects.toMatchObject({
    code: 'ERR_PROBED_RAW',
  });
  await disk.write(0, Uint8Array.of(2, 3));
  await disk.write(512, link('x', 'raw'));
  const meant = await drivers.open('/d/raw', { format: 'raw' });
  await meant.write(0, link('x', 'raw'));
});

test('no two writes, zeroes or sizes together make a probed disk another format', async () => {
  const open = async () => {
    const options = { driver: 'raw', probed: true, file: { driver: 'memory', size: 4096 } };
    return await drivers.open({ ...options, detectZeroes: 'on', discard: 'unmap' });
  };
  const header = new TextEncoder().encode('LINK x raw');
  const split = await open();
  const both = await Promise.allSettled([
    split.write(0, header.subarray(0, 3)),
    split.write(3, header.subarray(3)),
  ]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  // "7f 10 da be" at 0x40 is a VDI image; each of these is one step from a foreign signature.
  const foreign = await open();
  for (const magic of ['KDMV', 'vhdxfile', 'QED\0', '\x1f\x8b\x08']) {
    const text = Uint8Array.from(magic, (letter) => letter.charCodeAt(0));
    await expect(foreign.write(0, text)).rejects.toMatchObject({ code: 'ERR_PROBED_RAW' });
  }
  const zeroes = await open();
  await zeroes.write(0, new TextEncoder().encode('QEDx'));
  await expect(zeroes.writeZeroes(3, 1)).rejects.toMatchObject({ code: 'ERR_PROBED_RAW' });
  await expect(zeroes.write(3, Uint8Array.of(0))).rejects.toMatchObject({ code: 'ERR_PROBED_RAW' });
  await expect(zeroes.discard(3, 1)).rejects.toMatchObject({ code: 'ERR_PROBED_RAW' });
  await expect(zeroes.truncate(3, { shrink: true })).rejects.toMatchObject({ code: 'ERR_PROBED_RAW' });
  expect([...(await zeroes.read(0, 4))]).toEqual([...new TextEncoder().encode('QEDx')]);
});

test('cache and read-only pass from a node to its file', async () => {
  const options = {
    driver: 'pass-through',
    readOnly: true,
    cache: { direct: true },
    file: { driver: 'memory', size: 1 },
  };
  const { children } = (await drivers.open(options)).describe();
  expect(children.file).toMatchObject({
    readOnly: true,
    options: { cache: { direct: true, noFlush: false } },
  });
});

test('a window shows its bytes and no others', async () => {
  const data = Uint8Array.from({ length: 1000 }, (_, i) => i % 256);
  const window = await drivers.open({
    driver: 'raw',
    offset: 100,
    size: 50,
    file: { driver: 'memory', data },
  });
  expect(await window.read(0, 50)).toEqual(data.slice(100, 150));
  await expect(window.read(0, 51)).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
  await window.write(49, Uint8Array.of(255));
  expect(data[149]).toBe(255);
  const outside = drivers.open({ driver: 'raw', offset: 900, size: 101, file: { driver: 'memory', data } });
  await expect(outside).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
});

test('names with schemes go to the driver that speaks them', async () => {
  await expect(drivers.open('nbd://host/x', { format: 'raw' })).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_DRIVER',
  });
});

test('a new image is made raw unless a format is said, and replaces nothing unless that is said', async () => {
  await drivers.create('/d/new', { size: 100 });
  const disk = await drivers.open('/d/new', { format: 'raw' });
  expect([disk.size, (await disk.read(0, 100)).every((byte) => byte === 0)]).toEqual([100, true]);
  await expect(drivers.create('/d/new', { size: 5 })).rejects.toMatchObject({ code: 'EEXIST' });
  await drivers.create('/d/new', { size: 5, overwrite: true });
  expect((await drivers.open('/d/new', { format: 'raw' })).size).toBe(5);
  await expect(drivers.create('/d/other', { size: 5, format: 'link' })).rejects.toMatchObject({
    code: 'ERR_NOT_SUPPORTED',
  });
  await expect(drivers.create({ driver: 'memory' }, { size: 5 })).rejects.toMatchObject({
    code: 'ERR_NOT_SUPPORTED',
  });
  await expect(drivers.create('/d/other', { size: -5 })).rejects.toBeInstanceOf(RangeError);
  await expect(drivers.open('/d/other', { format: 'raw' })).rejects.toThrow();
});

test('an option in the place of a setting is refused, and its place is told', async () => {
  const wrong = { format: 'raw', readOnly: true } as object;
  await expect(drivers.open('/d/raw', wrong)).rejects.toThrow(
    /no setting is named 'readOnly'.*options: \{ readOnly/,
  );
  await expect(drivers.inspect('/d/raw', wrong)).rejects.toBeInstanceOf(TypeError);
});
