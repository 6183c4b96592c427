import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { checksum, readInOrder } from '../src/index.ts';
import * as node from '../src/platform/node.ts';
import * as portable from '../src/platform/portable.ts';
import { closing } from './lifecycle.ts';
import { contents, MiB, noise, openFilled, registry } from './support.ts';

const keep = closing();
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('checksum', () => {
  it('is that of the content, with no read of holes', async () => {
    const size = 20 * MiB + 5;
    const disk = await keep(
      openFilled(size, [{ offset: 3 * MiB + 1, length: 9 * MiB }], {
        before: () => sleep(Math.random() * 2),
      }),
    );
    const expected = sha256(await contents(disk));
    disk.reads.length = 0;
    const result = await checksum(disk, { concurrency: 5 });
    expect(result).toMatchObject({ algorithm: 'sha256', digest: expected, size });
    expect(disk.reads.reduce((sum, { length }) => sum + length, 0)).toBe(size - result.bytesZero);
    expect(result.bytesZero).toBeGreaterThan(10 * MiB);
  });

  it('of nothing is that of nothing', async () => {
    expect((await checksum(await keep(openFilled(0, [])))).digest).toBe(sha256(new Uint8Array(0)));
  });

  it('stops among zeroes and among data', async () => {
    const empty = await keep(registry.openNode({ driver: 'null', size: 2 ** 45, readZeroes: true }));
    await expect(checksum(empty, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const full = await keep(
      openFilled(24 * MiB, [{ offset: 0, length: 24 * MiB }], { before: () => sleep(10) }),
    );
    await expect(checksum(full, { signal: AbortSignal.timeout(15) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(full.inFlight).toBe(0);
  });

  it('fails with the offset of a read that failed', async () => {
    const disk = await keep(openFilled(24 * MiB, [{ offset: 0, length: 24 * MiB }]));
    disk.hooks.before = (op, offset) => {
      if (op === 'read' && offset >= 6 * MiB) throw Object.assign(new Error('bad'), { code: 'EIO' });
    };
    await expect(checksum(disk)).rejects.toMatchObject({ code: 'EIO', offset: 6 * MiB });
    expect(disk.inFlight).toBe(0);
  });
});

describe('readInOrder', () => {
  it('settles its reads when the reader leaves early', async () => {
    const disk = await keep(
      openFilled(24 * MiB, [{ offset: 0, length: 24 * MiB }], { before: () => sleep(3) }),
    );
    for await (const { offset, length } of readInOrder(disk)) {
      expect([offset, length]).toEqual([0, 2 * MiB]);
      break;
    }
    expect(disk.inFlight).toBe(0);
    expect(disk.reads.length).toBeGreaterThan(1);
  });
});

describe.each([
  ['node', node],
  ['portable', portable],
])('the hash of the %s platform', (_name, { createSha256 }) => {
  it.each([0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000, 100_000])(
    'takes %i bytes, whole and in parts',
    (length) => {
      const bytes = noise(length, 42);
      const whole = createSha256();
      whole.update(bytes);
      expect(whole.digest()).toBe(sha256(bytes));
      const parts = createSha256();
      for (let at = 0; at < length; ) {
        const step = 1 + ((at * 31) % 130);
        parts.update(bytes.subarray(at, at + step));
        at += step;
      }
      expect(parts.digest()).toBe(sha256(bytes));
    },
  );
});
