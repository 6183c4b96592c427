import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegistry, memory } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import { image, images, unpack } from '@blockyard/test-images';
import { afterAll, describe, expect, test } from 'vitest';

// What other packages for JavaScript were seen to answer wrongly without a word. Each has its line here.

const drivers = createRegistry([rawPosix(), qcow2(), memory()]);
const directory = mkdtempSync(join(tmpdir(), 'blockyard-golden-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const open = (path: string, format = 'qcow2') =>
  drivers.open(path, { format, references: 'same-directory', options: { readOnly: true } });

async function sha256(path: string): Promise<string> {
  const disk = await open(path);
  const hash = createHash('sha256');
  for await (const chunk of disk.readable()) hash.update(chunk);
  await disk.close();
  return hash.digest('hex');
}

const tagged = (tag: string) => images(tag).filter((one) => one.content.algorithm === 'sha256');

describe.each(['zlib', 'zstd', 'zero', 'data-file', 'extended-l2', 'snapshots'])(
  '%s images read right',
  (tag) => {
    test.each(tagged(tag))('$name', async (one) => {
      expect(await sha256(unpack(one, directory))).toBe(one.content.value);
    });
  },
);

/** A copy of an image with some bytes of its header changed. */
function patched(name: string, offset: number, bytes: readonly number[]): string {
  const path = unpack(image('v3.qcow2'), directory);
  const changed = readFileSync(path);
  changed.set(bytes, offset);
  const copy = join(directory, name);
  writeFileSync(copy, changed);
  return copy;
}

test('encryption is refused by name', async () => {
  await expect(open(unpack(image('encrypted-aes.qcow2'), directory))).rejects.toThrow(/AES/);
  await expect(open(patched('luks.qcow2', 32, [0, 0, 0, 2]))).rejects.toThrow(/LUKS/);
});

test('what is no qcow2, or has features that are not known, is refused', async () => {
  await expect(open(patched('magic.qcow2', 0, [0x51, 0x46, 0x49, 0xfa]))).rejects.toMatchObject({
    code: 'ERR_INVALID_IMAGE',
  });
  await expect(open(patched('future.qcow2', 72, [0x40, 0, 0, 0, 0, 0, 0, 0]))).rejects.toMatchObject({
    code: 'ERR_UNSUPPORTED_FEATURE',
  });
  await expect(open(patched('version.qcow2', 4, [0, 0, 0, 4]))).rejects.toThrow(/version 4/);
});

test('the virtual size is kept to the byte', async () => {
  for (const one of images('size').filter(({ format }) => format === 'qcow2')) {
    const disk = await open(unpack(one, directory));
    expect([one.name, disk.size]).toEqual([one.name, one.virtualSize]);
    await disk.close();
  }
});

test('a read fills the part of a buffer that was meant, and no other', async () => {
  const disk = await drivers.open({ driver: 'memory', data: new Uint8Array(1024).fill(7) });
  const buffer = new Uint8Array(16);
  await disk.read(100, buffer.subarray(5, 9));
  expect([...buffer]).toEqual([0, 0, 0, 0, 0, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0]);
});

test('a read past the end is an error, not a full count', async () => {
  const path = join(directory, 'short.raw');
  writeFileSync(path, new Uint8Array(1000));
  const disk = await open(path, 'raw');
  await expect(disk.read(900, 200)).rejects.toMatchObject({
    code: 'ERR_OUT_OF_BOUNDS',
    offset: 900,
    length: 200,
  });
  await disk.close();
});

test('a discard reaches what is below', async () => {
  const disk = await drivers.open({
    driver: 'memory',
    data: new Uint8Array(1 << 20).fill(7),
    discard: 'unmap',
  });
  await disk.discard(0, 1 << 20);
  expect(await disk.blockStatus(0, 1 << 20)).toMatchObject({ length: 1 << 20, data: false, zero: true });
});

test('an error is told at once, and to its own request alone', async () => {
  const path = unpack(image('v3.qcow2'), directory);
  const cut = join(directory, 'cut.qcow2');
  const whole = readFileSync(path);
  writeFileSync(cut, whole.subarray(0, whole.length - 16384));
  const disk = await open(cut);
  const [first, last] = await Promise.allSettled([disk.read(0, 4096), disk.read(disk.size - 4096, 4096)]);
  expect(first.status).toBe('fulfilled');
  expect(last).toMatchObject({ status: 'rejected', reason: { code: 'ERR_IMAGE_TRUNCATED' } });
  await disk.close();
});
