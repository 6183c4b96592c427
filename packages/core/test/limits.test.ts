import { checkLimits, defaultLimits, mergeLimits, minNonZero } from '@blockyard/core/limits';
import { expect, test } from 'vitest';

test('without a driver memory is aligned to max(4096, page size)', () => {
  expect(defaultLimits()).toMatchObject({
    requestAlignment: 1,
    minMemAlignment: 4096,
    optMemAlignment: 4096,
    maxTransfer: 0,
  });
  expect(defaultLimits(65536)).toMatchObject({ minMemAlignment: 65536, optMemAlignment: 65536 });
  expect(defaultLimits(1024)).toMatchObject({ minMemAlignment: 4096, optMemAlignment: 4096 });
});

test('merging takes the larger alignments and the smaller maxima that are not zero', () => {
  const a = {
    ...defaultLimits(),
    requestAlignment: 512,
    maxTransfer: 0,
    maxIov: 1024,
    optMemAlignment: 8192,
    maxHwIov: 168,
  };
  const b = {
    ...defaultLimits(),
    requestAlignment: 4096,
    maxTransfer: 65536,
    maxIov: 16,
    pdiscardAlignment: 65536,
  };
  expect(mergeLimits(a, b)).toMatchObject({
    requestAlignment: 4096,
    maxTransfer: 65536,
    maxIov: 16,
    optMemAlignment: 8192,
    maxHwIov: 168,
    pdiscardAlignment: 65536,
  });
  expect(mergeLimits(b, a)).toEqual(mergeLimits(a, b));
  expect([minNonZero(0, 0), minNonZero(0, 5), minNonZero(5, 0), minNonZero(3, 5)]).toEqual([0, 5, 5, 3]);
});

test.each([
  [{ requestAlignment: 0 }, /requestAlignment: 0 is not a power of two/],
  [{ requestAlignment: 768 }, /768 is not a power of two/],
  [{ maxTransfer: -1 }, /maxTransfer: -1 is not a byte count/],
  [{ maxTransfer: 1.5 }, /maxTransfer: 1.5/],
  [{ requestAlignment: 4096, maxTransfer: 4608 }, /multiple of requestAlignment 4096/],
  [{ optMemAlignment: 512 }, /less than minMemAlignment/],
])('limits that make no sense are named: %j', (change, message) => {
  expect(() => checkLimits({ ...defaultLimits(), ...change })).toThrow(message);
});
