import { describe, expect, it } from 'vitest';
import { concat, convert, map } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { contents, MiB, openFilled, openHooked, registry } from './support.ts';

const keep = closing();

describe('concat', () => {
  it('shows disks one after the other, each padded to whole sectors', async () => {
    const parts = [
      await openFilled(1000, [{ offset: 0, length: 1000 }]),
      await openFilled(0, []),
      await openFilled(MiB, [{ offset: 65536, length: 65536 }]),
      await openFilled(513, [{ offset: 0, length: 513 }]),
    ];
    const whole = await keep(concat(parts));
    const expected = new Uint8Array(1024 + MiB + 1024);
    expected.set(await contents(parts[0] as never), 0);
    expected.set(await contents(parts[2] as never), 1024);
    expected.set(await contents(parts[3] as never), 1024 + MiB);
    expect(whole.size).toBe(expected.byteLength);
    expect(Buffer.compare(await contents(whole), expected)).toBe(0);
    for (const [offset, length] of [
      [990, 100],
      [1023, MiB + 2],
      [1024 + MiB + 512, 512],
    ] as const) {
      const bytes = new Uint8Array(length).fill(9);
      await whole.read(offset, [bytes.subarray(0, 7), bytes.subarray(7)]);
      expect(Buffer.compare(bytes, expected.subarray(offset, offset + length))).toBe(0);
    }
    let at = 0;
    for await (const extent of map(whole)) {
      expect(extent.offset).toBe(at);
      at += extent.length;
    }
    expect(at).toBe(whole.size);
    const target = await keep(openHooked(whole.size));
    const result = await convert(whole, target, { targetIsZero: true });
    expect(Buffer.compare(await contents(target), expected)).toBe(0);
    expect(result.bytesZero).toBeGreaterThan(MiB / 2);
  });

  it('is read-only, has the alignment of none, and closes its disks', async () => {
    const disk = await openHooked(MiB);
    const whole = await concat([disk, await registry.openNode({ driver: 'memory', size: 512 })]);
    expect(() => whole.write(0, new Uint8Array(1))).toThrow(/read-only/);
    await whole.close();
    expect(disk.closed).toBe(true);
    await expect(concat([])).rejects.toThrow(RangeError);
  });
});
