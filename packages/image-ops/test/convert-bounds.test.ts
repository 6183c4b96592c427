import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { countingMemory, expectSame, MiB, openFilled, openHooked } from './support.ts';

const keep = closing();
const delay = () => sleep(Math.random() * 3);

describe('requests in flight', () => {
  it.each([1, 3, 8])('are %i at most, and as many', async (concurrency) => {
    const size = 32 * MiB;
    const source = await keep(openFilled(size, [{ offset: 0, length: size }], { before: () => sleep(2) }));
    const target = await keep(openHooked(size));
    await convert(source, target, { concurrency, targetIsZero: true });
    expect(source.mostInFlight).toBe(concurrency);
  });

  it('hold no more memory than asked, and give all of it back', async () => {
    const size = 24 * MiB;
    const source = await keep(openFilled(size, [{ offset: 0, length: size }], { before: delay }));
    const target = await keep(openHooked(size, { before: delay }));
    const memory = countingMemory();
    Object.defineProperty(source, 'memory', { value: memory });
    for (const bufferBytes of [65536, MiB, 5 * MiB]) {
      memory.most = 0;
      await convert(source, target, { bufferBytes, concurrency: 16, targetIsZero: true });
      expect(memory.most).toBeLessThanOrEqual(bufferBytes);
      expect(memory.most).toBeGreaterThan(0);
      expect(memory.lent).toBe(0);
    }
    await expectSame(source, target);
  });

  it('are large', async () => {
    const size = 32 * MiB;
    const source = await keep(openFilled(size, [{ offset: 0, length: size }]));
    const target = await keep(openHooked(size));
    const { requests } = await convert(source, target, { targetIsZero: true });
    expect(requests.read).toBeLessThanOrEqual(32);
    expect(requests.write).toBeLessThanOrEqual(32);
  });
});

describe('order', () => {
  const run = async (outOfOrder: boolean) => {
    const size = 48 * MiB;
    // The first read is the slowest: everything is there before it.
    const source = await keep(
      openFilled(size, [{ offset: 0, length: size }], {
        before: (_op, offset) => sleep(offset % (16 * MiB) === 0 ? 30 : 1),
      }),
    );
    const target = await keep(openHooked(size));
    await convert(source, target, { outOfOrder, targetIsZero: true });
    return target.writes.map(({ offset }) => offset);
  };

  it('of writes is that of the disk', async () => {
    const offsets = await run(false);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  });

  it('does not matter with outOfOrder', async () => {
    const offsets = await run(true);
    expect(offsets).not.toEqual([...offsets].sort((a, b) => a - b));
  });
});
