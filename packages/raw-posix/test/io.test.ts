import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeCases, dice, pattern, same, scratch } from './support.ts';

const at = await scratch();
const sizes = [0, 1, 511, 513, 4097, (1 << 20) + 1];

describeCases(
  'reads and writes',
  () => true,
  (one) => {
    const fresh = async (name: string, contents: Uint8Array) => {
      const filename = at(`${name}-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, contents);
      return filename;
    };

    it.each(sizes)('a file of %i bytes, whole and to the byte', async (size) => {
      const contents = pattern(size);
      const filename = await fresh(`size-${size}`, contents);
      await using disk = await one.open(filename);
      expect(disk.size).toBe(size);
      same(await disk.read(0, size), contents);
      if (size > 0) expect(await disk.read(size - 1, 1)).toEqual(contents.subarray(size - 1));
      await expect(disk.read(size, 1)).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
      const other = pattern(size, 2);
      await disk.write(0, other);
      await disk.flush();
      expect((await stat(filename)).size).toBe(size);
      same(await readFile(filename), other);
    });

    it.each([513, 4097, 10_001])('the last bytes of %i, without touching the size', async (size) => {
      const contents = pattern(size);
      const filename = await fresh(`tail-${size}`, contents);
      await using disk = await one.open(filename);
      const tail = pattern(7, 3);
      await disk.write(size - 7, tail);
      contents.set(tail, size - 7);
      same(await readFile(filename), contents);
      expect(disk.size).toBe(size);
      expect(await disk.read(size - 100, 100)).toEqual(contents.subarray(size - 100));
    });

    it('keeps every byte of unaligned writes side by side in the same blocks', async () => {
      const contents = pattern(20_000);
      const filename = await fresh('rmw', contents);
      await using disk = await one.open(filename);
      const writes: Promise<void>[] = [];
      for (let offset = 37; offset + 100 < 20_000; offset += 100) {
        const data = pattern(100, offset);
        contents.set(data, offset);
        writes.push(disk.write(offset, data));
      }
      await Promise.all(writes);
      same(await readFile(filename), contents);
      if (one.direct) expect(disk.stats.padded).toBe(writes.length);
      else expect(disk.stats.bounces).toBe(0);
    });

    it('scatters and gathers', async () => {
      const contents = pattern(9000);
      const filename = await fresh('vector', contents);
      await using disk = await one.open(filename);
      const into = [new Uint8Array(10), new Uint8Array(0), new Uint8Array(4096), new Uint8Array(1)];
      await disk.read(1234, into);
      expect(Buffer.concat(into)).toEqual(Buffer.from(contents.subarray(1234, 1234 + 4107)));
      const from = Array.from({ length: 1500 }, (_, i) => pattern(3, i));
      await disk.write(100, from);
      contents.set(Buffer.concat(from), 100);
      same(await readFile(filename), contents);
    });

    it('is what a plain buffer is, after many requests at once', async () => {
      const model = pattern(100_003);
      const filename = await fresh('model', model);
      await using disk = await one.open(filename, { discard: 'unmap' });
      const roll = dice(42);
      for (let round = 0; round < 15; round++) {
        const work: Promise<unknown>[] = [];
        // Each has a stripe of its own: of overlapping requests nobody says who comes last.
        for (let stripe = 0; stripe < 10; stripe++) {
          const offset = stripe * 10_000 + roll(3000);
          const length = 1 + roll(7000);
          const kind = roll(3);
          const expected = model.slice(offset, offset + length);
          if (kind === 0) work.push(disk.read(offset, length).then((got) => same(got, expected)));
          else if (kind === 1) {
            const data = pattern(length, round * 10 + stripe);
            model.set(data, offset);
            work.push(disk.write(offset, data));
          } else {
            model.fill(0, offset, offset + length);
            work.push(disk.writeZeroes(offset, length, { mayUnmap: roll(2) === 0 }));
          }
        }
        await Promise.all(work);
      }
      same(await disk.read(0, disk.size), model);
      same(await readFile(filename), model);
    });

    it('sees only the window that it was given', async () => {
      const contents = pattern(50_000);
      const filename = await fresh('window', contents);
      await using disk = await one.open(filename, { offset: 8192, size: 10_001 });
      expect(disk.size).toBe(10_001);
      same(await disk.read(0, 10_001), contents.subarray(8192, 18_193));
      await disk.write(9_990, pattern(11, 5));
      await disk.writeZeroes(9_000, 10);
      contents.set(pattern(11, 5), 8192 + 9_990);
      contents.fill(0, 8192 + 9_000, 8192 + 9_010);
      same(await readFile(filename), contents);
      await expect(disk.read(10_000, 2)).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
      await expect(disk.truncate(20_000)).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' });
    });

    it('sees the end of the file from an offset', async () => {
      const contents = pattern(12_289);
      const filename = await fresh('offset', contents);
      await using disk = await one.open(filename, { offset: 4096 });
      expect(disk.size).toBe(8193);
      same(await disk.read(0, 8193), contents.subarray(4096));
      await disk.truncate(9000);
      expect(disk.size).toBe(9000);
      expect((await stat(filename)).size).toBe(13_096);
    });

    it('stops when the signal says so', async () => {
      const filename = await fresh('abort', pattern(8192));
      await using disk = await one.open(filename);
      const controller = new AbortController();
      const read = disk.read(0, 4096, { signal: controller.signal });
      controller.abort();
      await expect(read).rejects.toMatchObject({ name: 'AbortError' });
      await expect(disk.read(0, 1, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(await disk.read(0, 10)).toEqual(pattern(8192).subarray(0, 10));
    });

    it('says what it opened', async () => {
      const filename = await fresh('describe', pattern(100));
      await using disk = await one.open(filename, { readOnly: true });
      const { options } = disk.describe();
      const locking = one.host === 'native' ? 'on' : 'off';
      expect(options).toMatchObject({ filename, aio: one.aio, direct: one.direct, host: one.host, locking });
    });
  },
);

describeCases(
  'aligned requests',
  (one) => one.direct,
  (one) => {
    it('reach the kernel in the caller’s own memory', async () => {
      const filename = at(`aligned-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, pattern(1 << 20));
      await using disk = await one.open(filename);
      const buffer = disk.allocate(1 << 16);
      for (let offset = 0; offset < 1 << 20; offset += 1 << 16) {
        await disk.read(offset, buffer);
        await disk.write(offset, buffer);
      }
      await disk.read(0, [buffer.subarray(0, 4096), buffer.subarray(8192, 12_288)]);
      disk.release(buffer);
      expect(disk.stats).toMatchObject({
        reads: 17,
        writes: 16,
        bounces: 0,
        bouncedBytes: 0,
        padded: 0,
        splits: 0,
      });
    });

    it('are copied when the memory is not aligned', async () => {
      const filename = at(`unaligned-${one.name.replace(/[: ]/g, '-')}`);
      await writeFile(filename, pattern(8192));
      await using disk = await one.open(filename);
      const buffer = disk.allocate(8192);
      await disk.read(0, buffer.subarray(1, 4097));
      expect(buffer.subarray(1, 4097)).toEqual(pattern(8192).subarray(0, 4096));
      disk.release(buffer);
      expect(disk.stats).toMatchObject({ bounces: 1, bouncedBytes: 4096, padded: 0 });
    });
  },
);
