import type { BlockNode, RequestOptions } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { expectSame, MiB, openFilled, registry } from './support.ts';

const keep = closing();

/** A memory node whose copyRange copies, up to a limit, or refuses; it tells what it was asked. */
async function target(size: number, answer: (length: number) => number | Error) {
  const node = await keep(registry.openNode({ driver: 'memory', size }));
  const asked: { offset: number; length: number }[] = [];
  Object.assign(node, {
    supports: { ...node.supports, copyRange: true },
    async _copyRange(
      source: BlockNode,
      from: number,
      offset: number,
      length: number,
      _options: RequestOptions,
    ) {
      asked.push({ offset, length });
      const count = answer(length);
      if (count instanceof Error) throw count;
      const bytes = new Uint8Array(count);
      await source.read(from, bytes);
      await node.write(offset, bytes);
      return count;
    },
  });
  return { node, asked };
}

/** A disk whose bytes lie in a memory node, as those of a format would. */
async function source(size: number) {
  const node = await openFilled(size, [{ offset: MiB, length: size - 2 * MiB }]);
  const host = node.children.file as BlockNode;
  node.hooks.status = (extent) =>
    extent.zero ? extent : { ...extent, hostNode: host, hostOffset: extent.offset };
  return await keep(node);
}

describe('copyRange', () => {
  it('copies data below, and reads nothing', async () => {
    const from = await source(40 * MiB);
    const { node } = await target(40 * MiB, (length) => length);
    const result = await convert(from, node, { targetIsZero: true, copyRange: true });
    expect(from.reads).toEqual([]);
    expect(result).toMatchObject({ bytesOffloaded: 38 * MiB, bytesRead: 0, bytesZero: 2 * MiB });
    await expectSame(from, node);
  });

  it('goes on where a copy was short', async () => {
    const from = await source(20 * MiB);
    const { node } = await target(20 * MiB, (length) => Math.min(length, 100_000));
    const result = await convert(from, node, { targetIsZero: true, copyRange: true });
    expect(result.bytesOffloaded).toBe(18 * MiB);
    await expectSame(from, node);
  });

  it('reads and writes the ranges that are refused, and offloads the others', async () => {
    const from = await source(80 * MiB);
    let turn = 0;
    const { node } = await target(80 * MiB, (length) => (turn++ % 2 === 0 ? length : 0));
    const result = await convert(from, node, { targetIsZero: true, copyRange: true });
    expect(result.bytesOffloaded).toBeGreaterThan(0);
    expect(result.bytesRead).toBeGreaterThan(0);
    expect(result.bytesOffloaded + result.bytesRead).toBe(78 * MiB);
    await expectSame(from, node);
  });

  it.each([0, Object.assign(new Error('across devices'), { code: 'EXDEV' })])(
    'stops asking after refusals: %s',
    async (answer) => {
      const from = await source(130 * MiB);
      const { node, asked } = await target(130 * MiB, () => answer);
      const result = await convert(from, node, { targetIsZero: true, copyRange: true, concurrency: 1 });
      expect(asked.length).toBeLessThanOrEqual(5);
      expect(result.bytesOffloaded).toBe(0);
      expect(result.bytesRead).toBe(128 * MiB);
    },
  );

  it('is not asked of another driver, nor without the option', async () => {
    const from = await source(4 * MiB);
    const { node, asked } = await target(4 * MiB, (length) => length);
    await convert(from, node, { targetIsZero: true });
    from.hooks.status = (extent) => ({ ...extent, hostNode: from, hostOffset: extent.offset });
    await convert(from, node, { targetIsZero: true, copyRange: true });
    expect(asked).toEqual([]);
    await expectSame(from, node);
  });

  it('copies through a raw window to the right place', async () => {
    const from = await source(8 * MiB);
    const { node } = await target(12 * MiB, (length) => length);
    const window = await keep(
      registry.openNode({ driver: 'raw', offset: 3 * MiB, size: 8 * MiB, file: node } as never),
    );
    const result = await convert(from, window, { targetIsZero: true, copyRange: true });
    expect(result.bytesOffloaded).toBe(6 * MiB);
    await expectSame(from, window);
  });
});
