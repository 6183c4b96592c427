import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { extents, openDisk, openNode } from './support/open.ts';

const cluster = 65536;
const sub = cluster / 32;

describe('extended L2 entries', () => {
  it('map every mix of subclusters', async () => {
    const builder = new ImageBuilder({ extendedL2: true, size: 64 * cluster });
    const model = new Uint8Array(64 * cluster);
    const bits = new DataView(pattern(64 * 4, 5).buffer);
    for (let i = 0; i < 40; i++) {
      const zeroes = bits.getUint32(i * 4) & bits.getUint32((i + 20) * 4);
      const allocated = ~zeroes & bits.getUint32((i + 1) * 4);
      const bytes = pattern(cluster, i);
      builder.subclusters(i * cluster, bytes, allocated, zeroes);
      for (let s = 0; s < 32; s++) {
        if ((allocated >>> s) & 1) model.set(bytes.subarray(s * sub, (s + 1) * sub), i * cluster + s * sub);
      }
    }
    builder.subclusters(50 * cluster, undefined, 0, 0xffff0000);
    const disk = await openDisk(builder.build());
    expect(Buffer.compare(await disk.read(0, disk.size), model)).toBe(0);
    for (let at = 1000; at < model.length - 70_000; at += 99_991) {
      expect(Buffer.compare(await disk.read(at, 70_000), model.subarray(at, at + 70_000))).toBe(0);
    }
    const told = await extents(disk);
    expect(told.at(-2)).toMatchObject({
      offset: 50 * cluster + cluster / 2,
      length: cluster / 2,
      zero: true,
      present: true,
    });
    for (const extent of told) {
      const bytes = model.subarray(extent.offset, extent.offset + extent.length);
      if (extent.zero) expect(bytes.every((byte) => byte === 0)).toBe(true);
      expect(extent.offset % sub).toBe(0);
    }
    await disk.close();
  });

  it('tell where allocated clusters have their place, for what is not there yet too', async () => {
    const builder = new ImageBuilder({ extendedL2: true, size: cluster });
    const at = builder.subclusters(0, pattern(cluster), 0b100, 0b1000);
    const disk = await openDisk(builder.build());
    expect(
      (await extents(disk)).map(({ offset, length, data, zero, present, hostOffset }) => [
        offset,
        length,
        data,
        zero,
        present,
        hostOffset,
      ]),
    ).toEqual([
      [0, 2 * sub, false, true, false, at],
      [2 * sub, sub, true, false, true, at + 2 * sub],
      [3 * sub, sub, false, true, true, at + 3 * sub],
      [4 * sub, 28 * sub, false, true, false, at + 4 * sub],
    ]);
    await disk.close();
  });

  it('that contradict themselves are an error', async () => {
    const both = new ImageBuilder({ extendedL2: true });
    both.subclusters(0, pattern(cluster), 1, 1);
    const nowhere = new ImageBuilder({ extendedL2: true });
    nowhere.subclusters(0, undefined, 1, 0);
    for (const builder of [both, nowhere]) {
      const node = await openNode(builder.build());
      expect(() => node.read(0, new Uint8Array(1))).toThrow(expect.objectContaining({ code: 'ERR_CORRUPT' }));
      expect(() => node.blockStatus(0, 1)).toThrow(expect.objectContaining({ code: 'ERR_CORRUPT' }));
      await node.close();
    }
  });

  it('need clusters of 16 KiB', async () => {
    await expect(
      openNode(new ImageBuilder({ extendedL2: true, clusterBits: 13 }).build()),
    ).rejects.toMatchObject({ code: 'ERR_INVALID_IMAGE' });
    await (await openNode(new ImageBuilder({ extendedL2: true, clusterBits: 14 }).build())).close();
  });
});
