import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readToSink, writeFromStream } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { contents, MiB, noise, openFilled, openHooked } from './support.ts';

const keep = closing();

async function* chunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('writeFromStream', () => {
  it.each([1000, 65536, 5 * MiB])(
    'stores chunks of %i bytes, skips zeroes and ends where the stream ends',
    async (chunk) => {
      const bytes = noise(9 * MiB + 123, 7);
      bytes.fill(0, MiB, 4 * MiB);
      const target = await keep(openHooked(0, { before: () => sleep(Math.random() * 2) }));
      const result = await writeFromStream(chunks(bytes, chunk), target, { grow: true, targetIsZero: true });
      expect(result.size).toBe(bytes.length);
      expect(result.bytesZeroDetected).toBe(3 * MiB);
      expect(target.size).toBe(bytes.length);
      expect(Buffer.compare(await contents(target), bytes)).toBe(0);
      expect(target.stats.flushes).toBe(1);
    },
  );

  it('zeroes what a target had, and leaves the rest', async () => {
    const bytes = new Uint8Array(MiB);
    const target = await keep(openFilled(2 * MiB, [{ offset: 0, length: 2 * MiB }]));
    const before = await contents(target);
    await writeFromStream(chunks(bytes, 65536), target);
    const after = await contents(target);
    expect(after.subarray(0, MiB).every((byte) => byte === 0)).toBe(true);
    expect(Buffer.compare(after.subarray(MiB), before.subarray(MiB))).toBe(0);
  });

  it('refuses more than fits, and fails as its source and target fail', async () => {
    const target = await keep(openHooked(MiB));
    await expect(writeFromStream(chunks(noise(2 * MiB, 1), 65536), target)).rejects.toMatchObject({
      code: 'ERR_OUT_OF_BOUNDS',
    });
    async function* broken() {
      yield noise(4 * MiB, 1);
      throw new Error('the pipe broke');
    }
    const grown = await keep(openHooked(0));
    await expect(writeFromStream(broken(), grown, { grow: true })).rejects.toThrow('the pipe broke');
    grown.hooks.before = async (op) => {
      await sleep(1);
      if (op === 'write') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    await expect(
      writeFromStream(chunks(noise(20 * MiB, 1), MiB), grown, { grow: true }),
    ).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(grown.inFlight).toBe(0);
    expect(grown.stats.flushes).toBe(0);
  });
});

describe('readToSink', () => {
  it('gives every byte in order', async () => {
    const disk = await keep(
      openFilled(11 * MiB + 9, [{ offset: 4 * MiB, length: 5 * MiB }], {
        before: () => sleep(Math.random() * 2),
      }),
    );
    const received: Uint8Array[] = [];
    const result = await readToSink(disk, { write: async (chunk) => void received.push(chunk.slice()) });
    expect(Buffer.compare(Buffer.concat(received), await contents(disk))).toBe(0);
    expect(result.bytesRead + result.bytesZero).toBe(disk.size);
  });

  it('fails as the sink fails, with nothing left in flight', async () => {
    const disk = await keep(
      openFilled(24 * MiB, [{ offset: 0, length: 24 * MiB }], { before: () => sleep(2) }),
    );
    const sink = { write: () => Promise.reject(new Error('nobody reads')) };
    await expect(readToSink(disk, sink)).rejects.toThrow('nobody reads');
    expect(disk.inFlight).toBe(0);
  });
});
