import { expect, test } from 'vitest';
import { type Case, median, runPairs } from '../src/pairs.ts';

test('the median of odd and even counts', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

test('pairs alternate, the first is not counted, and the bar is read by its kind', async () => {
  const order: string[] = [];
  const values = [100, 1, 2, 3];
  const fake: Case = {
    name: 'n',
    peer: 'p',
    kind: 'rate',
    unit: 'IOPS',
    bar: 0.9,
    ours: async () => {
      order.push('ours');
      return { value: values.shift() as number };
    },
    theirs: async () => {
      order.push('theirs');
      return { value: 2 };
    },
  };
  const result = await runPairs(fake, 3, () => {});
  expect(order).toEqual(['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs', 'theirs', 'ours']);
  expect(result).toMatchObject({ ratios: [0.5, 1, 1.5], ratio: 1, met: true });
  const slow: Case = { ...fake, kind: 'time', ours: async () => ({ value: 2 }) };
  const measured = await runPairs(slow, 3, () => {});
  expect(measured).toMatchObject({ ratio: 1, met: false });
  const added: Case = { ...slow, kind: 'added', bar: 0.5 };
  expect(await runPairs(added, 3, () => {})).toMatchObject({ ratio: 0, met: true });
});
