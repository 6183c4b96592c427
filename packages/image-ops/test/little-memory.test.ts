import { BlockError, type BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { checksum, compare, convert } from '../src/index.ts';
import { contents, countingMemory, registry } from './support.ts';

const KiB = 1024;
const size = 5 << 20;

async function disk(fill: boolean): Promise<BlockNode> {
  const node = await registry.openNode({ driver: 'memory', size });
  if (fill)
    await node.write(
      0,
      new Uint8Array(size).map((_, index) => (index * 7 + (index >> 12)) | 1),
    );
  return node;
}

/** Has no more than so much at a time. */
function limit(node: BlockNode, most: number) {
  const memory = countingMemory();
  const { allocate } = memory;
  memory.allocate = (length, alignment) => {
    if (memory.lent + length > most) throw new RangeError('Array buffer allocation failed');
    return allocate(length, alignment);
  };
  Object.defineProperty(node, 'memory', { value: memory });
  return memory;
}

describe('with little memory', () => {
  it.each([
    ['enough', 64 << 20, 0],
    ['for two large requests', 4 << 20, 1],
    ['for one', 2 << 20, 1],
    ['for a smaller one', 200 * KiB, 1],
    ['for the smallest', 128 * KiB, 1],
  ])('%s, all operations do their work', async (_, most, told) => {
    const [source, target] = [await disk(true), await disk(false)];
    const memory = limit(source, most);
    let notices = 0;
    const options = { onLittleMemory: () => void notices++ };
    await convert(source, target, options);
    expect(notices).toBe(told);
    expect(Buffer.compare(await contents(target), await contents(source))).toBe(0);
    expect((await compare(source, target, options)).identical).toBe(true);
    const { digest } = await checksum(source, options);
    expect(digest).toBe((await checksum(target)).digest);
    expect(memory.lent).toBe(0);
    expect(memory.most).toBeLessThanOrEqual(most);
  });

  it.each(['convert', 'compare', 'checksum'] as const)(
    '%s fails with ENOMEM when there is none',
    async (op) => {
      const [source, target] = [await disk(true), await disk(false)];
      const memory = limit(source, 32 * KiB);
      const work = {
        convert: () => convert(source, target),
        compare: () => compare(source, target),
        checksum: () => checksum(source),
      };
      const error = await work[op]().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(BlockError);
      expect(error).toMatchObject({ code: 'ENOMEM', op, message: expect.stringContaining(`${op}: `) });
      expect(memory.lent).toBe(0);
    },
  );
});
