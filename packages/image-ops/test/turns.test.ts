import { setTimeout as sleep } from 'node:timers/promises';
import { createRegistry, nullDriver } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { convert } from '../src/index.ts';
import { runLanes } from '../src/lanes.ts';
import { Turns } from '../src/turns.ts';

async function* numbers(count: number): AsyncGenerator<number, void, undefined> {
  for (let i = 0; i < count; i++) yield i;
}

describe('turns', () => {
  it('come in order, whoever is ready first', async () => {
    const turns = new Turns();
    const order: number[] = [];
    const take = async (number: number) => {
      await turns.wait(number);
      order.push(number);
      turns.pass(number);
    };
    await Promise.all([take(2), take(1), take(0)]);
    expect(order).toEqual([0, 1, 2]);
  });

  it('of one that failed do not keep the others waiting', async () => {
    const turns = new Turns();
    const work = async (_job: number, _lane: number, sequence: number) => {
      if (sequence === 0) {
        await sleep(1);
        throw new Error('failed before its turn');
      }
      await turns.wait(sequence);
      turns.pass(sequence);
    };
    await expect(runLanes(numbers(3), 3, work, () => turns.end())).rejects.toThrow('failed before its turn');
  });

  it('end with an abort, whenever it comes', async () => {
    const registry = createRegistry([nullDriver()]);
    const open = (readOnly: boolean) =>
      registry.openNode({ driver: 'null', size: 2 ** 44, readOnly } as never);
    const [source, target] = [await open(true), await open(false)];
    for (let i = 0; i < 40; i++) {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), i % 10);
      await expect(convert(source, target, { sparse: 0, signal: stop.signal })).rejects.toThrow('enough');
    }
    await Promise.all([source.close(), target.close()]);
  });
});
