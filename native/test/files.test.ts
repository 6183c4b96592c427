import { constants } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FallocateMode, type FileCalls, native } from '@blockyard/native';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNot } from './machine.ts';

const files = native?.files as FileCalls;
const { O_RDWR, O_RDONLY, O_CREAT, O_EXCL } = constants;
const MIB = 1 << 20;

/** What a file system may lack; anything else is a failure. */
const lacking = new Set(['EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EXDEV', 'EINVAL']);

describe.skipIf(whyNot !== undefined)(`file calls${whyNot ?? ''}`, () => {
  let directory: string;
  const opened: number[] = [];
  const open = async (name: string, flags = O_RDWR | O_CREAT) => {
    const fd = await files.open(join(directory, name), flags, 0o600);
    opened.push(fd);
    return fd;
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'blockyard-files-'));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((fd) => files.close(fd)));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('opens with flags, mode and close-on-exec, and tells errors as Node does', async () => {
    const path = join(directory, 'opened');
    const fd = await open('opened', O_RDWR | O_CREAT | O_EXCL);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    if (process.platform === 'linux') {
      const flags = /flags:\s*(\d+)/.exec(await readFile(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0';
      expect(Number.parseInt(flags, 8) & 0o2000000).not.toBe(0);
    }
    const again = files.open(path, O_RDWR | O_CREAT | O_EXCL);
    await expect(again).rejects.toMatchObject({ code: 'EEXIST', errno: -17, syscall: 'open', path });
    await expect(again).rejects.toThrow(`EEXIST: file already exists, open '${path}'`);
    await expect(files.open('a\0b', 0)).rejects.toThrow(TypeError);
  });

  it('closes', async () => {
    const fd = await files.open(join(directory, 'closed'), O_RDWR | O_CREAT);
    await files.close(fd);
    await expect(files.status(fd)).rejects.toMatchObject({ code: 'EBADF' });
    await expect(files.close(9999)).rejects.toMatchObject({ code: 'EBADF', syscall: 'close' });
  });

  it('tells status', async () => {
    const fd = await open('status');
    await files.truncate(fd, 3 * MIB + 5);
    const status = await files.status(fd);
    const expected = await stat(join(directory, 'status'));
    expect(status).toMatchObject({ kind: 'file', size: 3 * MIB + 5, allocated: expected.blocks * 512 });
    expect(status.blockSize).toBe(expected.blksize);
    expect(status.identity).toMatch(new RegExp(`^\\d+:\\d+:${expected.ino}$`));
    const same = await open('status', O_RDONLY);
    expect((await files.status(same)).identity).toBe(status.identity);
    const other = await open('another');
    expect((await files.status(other)).identity).not.toBe(status.identity);
    if (status.dioMemAlign !== undefined) expect(status.dioOffsetAlign).toBeGreaterThanOrEqual(0);
    opened.push(await files.open('/dev/null', O_RDWR));
    expect(await files.status(opened.at(-1) as number)).toMatchObject({ kind: 'character' });
    opened.push(await files.open(directory, O_RDONLY));
    expect((await files.status(opened.at(-1) as number)).kind).toBe('other');
  });

  it('finds data and holes', async () => {
    const fd = await open('holes');
    await files.truncate(fd, 4 * MIB);
    await writeFile(join(directory, 'holes'), '');
    await files.truncate(fd, 4 * MIB);
    const engine = native?.engine('threads');
    await engine?.write(fd, MIB, new Uint8Array(MIB).fill(1));
    expect(await files.seek(fd, 'data', 0)).toBe(MIB);
    expect(await files.seek(fd, 'hole', MIB)).toBe(2 * MIB);
    expect(await files.seek(fd, 'data', 2 * MIB)).toBe(-1);
    expect(await files.seek(fd, 'hole', 4 * MIB)).toBe(-1);
    await expect(files.seek(fd, 'neither' as 'data', 0)).rejects.toThrow(TypeError);
    await engine?.close();
  });

  it.each<[FallocateMode, number, number]>([
    ['allocate', 8 * MIB, 9],
    ['keep-size', 4 * MIB, 9],
    ['punch-hole', 4 * MIB, 0],
    ['zero-range', 8 * MIB, 0],
    ['zero-range-keep-size', 4 * MIB, 0],
  ])('fallocate %s', async (mode, size, first) => {
    const path = join(directory, mode);
    await writeFile(path, new Uint8Array(4 * MIB).fill(9));
    const fd = await open(mode);
    try {
      await files.fallocate(fd, mode, 0, 8 * MIB);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!lacking.has(code ?? '')) throw error;
      return;
    }
    const status = await files.status(fd);
    expect(status.size).toBe(size);
    if (mode === 'punch-hole') expect(status.allocated).toBeLessThan(MIB);
    else expect(status.allocated).toBeGreaterThanOrEqual(4 * MIB);
    expect((await readFile(path))[0]).toBe(first);
  });

  it('copies ranges inside the kernel, and tells how much', async () => {
    await writeFile(
      join(directory, 'source'),
      new Uint8Array(100_000).map((_, i) => i),
    );
    const from = await open('source', O_RDONLY);
    const to = await open('copy');
    let copied = 0;
    while (copied < 50_000)
      copied += await files.copyRange(from, 1000 + copied, to, 7 + copied, 50_000 - copied);
    const copy = await readFile(join(directory, 'copy'));
    expect(copy.subarray(7)).toEqual((await readFile(join(directory, 'source'))).subarray(1000, 51_000));
    expect(await files.copyRange(from, 200_000, to, 0, 10)).toBe(0);
    await expect(files.copyRange(from, 0, 9999, 0, 10)).rejects.toMatchObject({ code: 'EBADF' });
  });

  it('clones where the file system can, else says so', async () => {
    await writeFile(join(directory, 'original'), new Uint8Array(MIB).fill(5));
    const from = await open('original', O_RDONLY);
    const to = await open('clone');
    try {
      await files.cloneRange(from, 0, to, 0, 0);
      expect((await readFile(join(directory, 'clone'))).length).toBe(MIB);
    } catch (error) {
      expect(error).toMatchObject({ syscall: 'FICLONERANGE' });
      expect(lacking).toContain((error as NodeJS.ErrnoException).code);
    }
  });

  it('truncates and syncs', async () => {
    const fd = await open('sized');
    await files.truncate(fd, 12_345);
    await files.sync(fd, true);
    await files.sync(fd, false);
    expect((await files.status(fd)).size).toBe(12_345);
  });

  it('locks byte ranges between descriptions, and never waits', async () => {
    const path = 'locked';
    const [first, second] = [await open(path), await open(path)];
    expect(await files.lock(first, 'read', 100, 1)).toBe(true);
    expect(await files.testLock(second, 'read', 100, 1)).toBe(true);
    expect(await files.testLock(second, 'write', 100, 1)).toBe(false);
    expect(await files.lock(second, 'write', 100, 1)).toBe(false);
    expect(await files.lock(second, 'write', 101, 1)).toBe(true);
    expect(await files.lock(second, 'read', 100, 1)).toBe(true);
    // Its own lock is not in the way; the other's is.
    expect(await files.testLock(first, 'read', 101, 1)).toBe(false);
    expect(await files.lock(second, 'unlock', 0, 0)).toBe(true);
    expect(await files.lock(first, 'write', 0, 0)).toBe(true);
    await expect(files.lock(9999, 'read', 0, 1)).rejects.toMatchObject({ code: 'EBADF' });
  });

  it.each([[1.5], [-1], [1n], ['1'], [2 ** 53]])('refuses %s as an offset', async (value) => {
    const fd = await open('offsets');
    const wrong = value as number;
    await expect(files.truncate(fd, wrong)).rejects.toThrow(RangeError);
    await expect(files.seek(fd, 'data', wrong)).rejects.toThrow(RangeError);
    await expect(files.fallocate(fd, 'allocate', wrong, 1)).rejects.toThrow(RangeError);
    await expect(files.copyRange(fd, 0, fd, wrong, 1)).rejects.toThrow(RangeError);
    await expect(files.lock(fd, 'read', wrong, 1)).rejects.toThrow(RangeError);
    await expect(files.close(wrong)).rejects.toThrow();
  });

  it('says what is not a device', async () => {
    const fd = await open('plain');
    await expect(files.blockDevice(fd)).rejects.toMatchObject({ code: 'ENOTTY' });
    await expect(files.scsiGeneric(fd)).rejects.toMatchObject({ code: 'ENOTTY' });
    await expect(files.blockDiscard(fd, 0, 4096)).rejects.toMatchObject({ code: 'ENOTTY' });
    await expect(files.blockZeroOut(fd, 0, 4096)).rejects.toMatchObject({ code: 'ENOTTY' });
  });
});
