import { describe, expect, it } from 'vitest';
import { convert, type Progress } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { expectSame, MiB, openFilled, openHooked, registry } from './support.ts';

const keep = closing();

describe('convert', () => {
  it('copies data and reads no holes', async () => {
    const source = await keep(
      openFilled(64 * MiB, [
        { offset: 3 * MiB, length: 100_000 },
        { offset: 40 * MiB, length: 5 * MiB },
      ]),
    );
    const target = await keep(openHooked(64 * MiB));
    const result = await convert(source, target, { targetIsZero: true });
    const read = source.reads.reduce((sum, { length }) => sum + length, 0);
    await expectSame(source, target);
    expect(read).toBe(result.bytesRead);
    expect(read).toBeLessThanOrEqual(5 * MiB + 2 * 65536);
    expect(target.zeroes).toEqual([]);
    expect(result.bytesRead + result.bytesZero).toBe(64 * MiB);
    expect(result.requests.blockStatus).toBeGreaterThan(0);
    expect(target.stats.flushes).toBe(1);
  });

  it('reads and writes nothing of an empty disk, however large', async () => {
    const size = 2 ** 50;
    const source = await keep(registry.openNode({ driver: 'null', size, readZeroes: true }));
    const target = await keep(registry.openNode({ driver: 'null', size }));
    const result = await convert(source, target, { targetIsZero: true });
    expect(result).toMatchObject({ size, bytesZero: size, bytesRead: 0, bytesWritten: 0 });
    expect([source.stats.reads, target.stats.writes, target.stats.writeZeroes]).toEqual([0, 0, 0]);
  });

  it('copies a disk of no bytes', async () => {
    const result = await convert(await keep(openHooked(0)), await keep(openHooked(0)));
    expect(result).toMatchObject({ size: 0, bytesRead: 0 });
  });

  it('writes zeroes over a target that is not known to be zero', async () => {
    const source = await keep(openFilled(8 * MiB, [{ offset: MiB, length: MiB }]));
    const target = await keep(openFilled(8 * MiB, [{ offset: 0, length: 8 * MiB }]));
    const result = await convert(source, target);
    await expectSame(source, target);
    expect(result.bytesZeroWritten).toBe(7 * MiB);
    expect(result.bytesWritten).toBe(MiB);
  });

  it('finds zeroes in what it has read', async () => {
    const source = await keep(openFilled(4 * MiB, [{ offset: 0, length: 4 * MiB }]));
    await source.write(MiB + 4096, new Uint8Array(8192));
    await source.write(3 * MiB + 100, new Uint8Array(4095));
    source.writes.length = 0;
    const target = await keep(openHooked(4 * MiB));
    const result = await convert(source, target, { targetIsZero: true });
    await expectSame(source, target);
    expect(result.bytesZeroDetected).toBe(8192);
    expect(result.bytesWritten).toBe(4 * MiB - 8192);
    expect(target.zeroes).toEqual([]);
  });

  it('writes runs shorter than sparse as bytes', async () => {
    const source = await keep(openFilled(MiB, [{ offset: 0, length: MiB }]));
    await source.write(65536, new Uint8Array(32768));
    await source.write(262144, new Uint8Array(65536));
    const target = await keep(openHooked(MiB));
    const result = await convert(source, target, { targetIsZero: true, sparse: 65536 });
    await expectSame(source, target);
    expect(result.bytesZeroDetected).toBe(65536);
  });

  it('gives storage to zeroes with sparse 0', async () => {
    const source = await keep(openFilled(2 * MiB, [{ offset: MiB, length: 4096 }]));
    const target = await keep(openHooked(2 * MiB));
    const result = await convert(source, target, { targetIsZero: true, sparse: 0 });
    await expectSame(source, target);
    expect(result.bytesZeroWritten + result.bytesWritten).toBe(2 * MiB);
    expect(result.bytesZeroDetected).toBe(0);
  });

  it('keeps sizes to the byte, and leaves what is beyond alone', async () => {
    const size = 3 * MiB + 777;
    const source = await keep(openFilled(size, [{ offset: 2 * MiB, length: size - 2 * MiB }]));
    const target = await keep(openFilled(4 * MiB, [{ offset: 0, length: 4 * MiB }]));
    const after = new Uint8Array(4 * MiB - size);
    await target.read(size, after);
    await convert(source, target);
    const now = new Uint8Array(4 * MiB - size);
    await target.read(size, now);
    expect(Buffer.compare(now, after)).toBe(0);
    const [a, b] = [new Uint8Array(size), new Uint8Array(size)];
    await source.read(0, a);
    await target.read(0, b);
    expect(Buffer.compare(a, b)).toBe(0);
  });

  it('refuses a target that is too small, with both sizes', async () => {
    const source = await keep(openHooked(1001));
    const target = await keep(openHooked(1000));
    await expect(convert(source, target)).rejects.toMatchObject({
      code: 'ERR_OUT_OF_BOUNDS',
      message: expect.stringMatching(/1000 bytes.*1001/),
    });
    expect(target.stats.flushes).toBe(0);
  });

  it('asks the file for holes in clusters that are assigned', async () => {
    const file = await keep(openFilled(4 * MiB, [{ offset: MiB, length: 65536 }]));
    const source = await keep(
      openHooked(4 * MiB, {
        status: (extent) => ({
          ...extent,
          length: extent.length,
          data: true,
          zero: false,
          hostNode: file,
          hostOffset: extent.offset,
        }),
      }),
    );
    const target = await keep(openHooked(4 * MiB));
    const result = await convert(source, target, { targetIsZero: true });
    expect(result.bytesRead).toBe(65536);
  });

  it('reports progress that rises to the whole', async () => {
    const source = await keep(openFilled(16 * MiB, [{ offset: 5 * MiB, length: 7 * MiB }]));
    const target = await keep(openHooked(16 * MiB));
    const seen: Progress[] = [];
    const result = await convert(source, target, {
      targetIsZero: true,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen[0]).toEqual({ done: 0, total: 16 * MiB, zero: 0 });
    expect(seen.at(-1)).toEqual({
      done: 16 * MiB,
      total: 16 * MiB,
      zero: result.bytesZero + result.bytesZeroDetected,
    });
    for (let i = 1; i < seen.length; i++)
      expect(seen[i]?.done).toBeGreaterThanOrEqual(seen[i - 1]?.done ?? 0);
  });

  it.each([{ sparse: -1 }, { sparse: 1.5 }, { concurrency: 0 }, { bufferBytes: 0 }])(
    'refuses %o',
    async (options) => {
      const node = await keep(openHooked(MiB));
      await expect(convert(node, node, options)).rejects.toThrow(RangeError);
    },
  );
});
