import { setTimeout as sleep } from 'node:timers/promises';
import { BlockError } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { countingMemory, type HookedNode, MiB, openFilled, openHooked } from './support.ts';

const keep = closing();
const size = 24 * MiB;
const delay = () => sleep(Math.random() * 2);

const idle = (...nodes: HookedNode[]) =>
  expect(nodes.map(({ inFlight }) => inFlight)).toEqual(nodes.map(() => 0));

async function pair() {
  const source = await keep(openFilled(size, [{ offset: MiB, length: size - 2 * MiB }], { before: delay }));
  const target = await keep(openHooked(size, { before: delay }));
  const memory = countingMemory();
  Object.defineProperty(source, 'memory', { value: memory });
  return { source, target, memory };
}

describe('a failure', () => {
  it.each(['read', 'blockStatus'] as const)(
    'of a %s names its offset, and everything has settled',
    async (failing) => {
      const { source, target, memory } = await pair();
      source.hooks.before = async (op, offset) => {
        await delay();
        if (op === failing && offset >= 9 * MiB) throw Object.assign(new Error('broken'), { code: 'EIO' });
      };
      const error = await convert(source, target, { targetIsZero: true }).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(BlockError);
      expect(error).toMatchObject({ code: 'EIO', op: failing });
      expect((error as BlockError).offset).toBeGreaterThanOrEqual(failing === 'read' ? 8 * MiB : MiB);
      idle(source, target);
      expect(memory.lent).toBe(0);
      expect(target.stats.flushes).toBe(0);
    },
  );

  it.each([false, true])('of a write does the same (out of order: %s)', async (outOfOrder) => {
    const { source, target, memory } = await pair();
    target.hooks.before = async (op, offset) => {
      await delay();
      if (op === 'write' && offset >= 9 * MiB)
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    const work = convert(source, target, { targetIsZero: true, outOfOrder });
    await expect(work).rejects.toMatchObject({ code: 'ENOSPC', op: 'write', offset: expect.any(Number) });
    idle(source, target);
    expect(memory.lent).toBe(0);
    expect(target.stats.flushes).toBe(0);
  });

  it('of writing zeroes does the same', async () => {
    const { source, target } = await pair();
    target.hooks.before = (op) => {
      if (op === 'writeZeroes') throw Object.assign(new Error('bad'), { code: 'EIO' });
    };
    await expect(convert(source, target)).rejects.toMatchObject({
      code: 'EIO',
      op: 'writeZeroes',
      offset: 0,
    });
    idle(source, target);
  });

  it('of the flush is a failure of the whole', async () => {
    const { source, target } = await pair();
    target.hooks.before = (op) => {
      if (op === 'flush') throw Object.assign(new Error('lost'), { code: 'EIO' });
    };
    await expect(convert(source, target, { targetIsZero: true })).rejects.toMatchObject({
      code: 'EIO',
      op: 'flush',
    });
  });

  it('deep below gets the offset on the disk, and keeps the place in the file', async () => {
    const { source, target } = await pair();
    source.hooks.before = (op) => {
      if (op === 'read')
        throw new BlockError('ERR_IMAGE_TRUNCATED', 'the cluster at 77 is past the end', {
          offset: 77,
          op: 'read',
          node: 'file',
        });
    };
    const error = (await convert(source, target).catch((error: unknown) => error)) as BlockError;
    expect(error).toMatchObject({ code: 'ERR_IMAGE_TRUNCATED', op: 'read', offset: MiB });
    expect(error.message).toMatch(/bytes at 1048576: the cluster at 77/);
  });
});

describe('an abort', () => {
  it('before the start does nothing', async () => {
    const { source, target } = await pair();
    await expect(convert(source, target, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    );
    expect(source.reads).toEqual([]);
  });

  it('at any moment rejects with its reason when all has settled', async () => {
    const { source, target, memory } = await pair();
    let stopped = 0;
    for (let round = 0; round < 60; round++) {
      const controller = new AbortController();
      const reason = new Error(`stop ${round}`);
      const timer = setTimeout(() => controller.abort(reason), Math.random() * 25);
      const options = {
        signal: controller.signal,
        targetIsZero: round % 2 === 0,
        outOfOrder: round % 3 === 0,
      };
      const error = await convert(source, target, options).then(
        () => undefined,
        (error: unknown) => error,
      );
      clearTimeout(timer);
      if (error !== undefined) {
        expect(error).toBe(reason);
        stopped++;
      }
      idle(source, target);
      expect(memory.lent).toBe(0);
    }
    expect(stopped).toBeGreaterThan(20);
  });

  it('is noticed where there is nothing to wait for', async () => {
    const source = await keep(openHooked(2 ** 40));
    // A disk of a billion little extents, known without waiting.
    Object.assign(source, {
      _blockStatus: (offset: number, length: number) => ({
        ...{
          offset,
          length: Math.min(1024, length),
          data: false,
          zero: true,
          present: true,
          depth: 0,
          compressed: false,
        },
      }),
    });
    const target = await keep(openHooked(2 ** 40));
    const work = convert(source, target, { targetIsZero: true, signal: AbortSignal.timeout(60) });
    await expect(work).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
