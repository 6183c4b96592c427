import fc from 'fast-check';
import type { Random } from '../random.ts';
import { type Operation, type RangeKind, scale, units } from './operations.ts';

const preallocations = ['off', 'off', 'off', 'metadata', 'falloc', 'full'] as const;

/** How often what is done; writes most of all. */
const rangeWeights: readonly [RangeKind, number][] = [
  ['write', 30],
  ['read', 12],
  ['zero', 7],
  ['unmap', 7],
  ['discard', 9],
  ['compressed', 7],
  ['fua', 3],
];
const weights = { flush: 8, reopen: 3, snapshot: 4, apply: 2, delete: 3, resize: 4 };

const kinds = [...rangeWeights, ...Object.entries(weights)] as [Operation['kind'], number][];
const total = kinds.reduce((sum, [, weight]) => sum + weight, 0);

/** By a seeded source, for long runs. */
export function drawOperation(random: Random): Operation {
  let left = random.below(total);
  const kind = kinds.find(([, weight]) => (left -= weight) < 0)?.[0] as Operation['kind'];
  switch (kind) {
    case 'flush':
    case 'reopen':
      return { kind };
    case 'snapshot':
    case 'apply':
    case 'delete':
      return { kind, which: random.below(8) };
    case 'resize':
      return { kind, size: random.below(scale), preallocation: random.pick(preallocations) };
    default:
      return {
        kind,
        at: random.below(scale),
        length: random.below(scale),
        unit: random.pick(units),
        seed: random.between(1, 1 << 20),
      };
  }
}

/** By fast-check, which makes a failing sequence short. */
export const operations: fc.Arbitrary<Operation> = fc.oneof(
  ...rangeWeights.map(([kind, weight]) => ({
    weight,
    arbitrary: fc.record({
      kind: fc.constant(kind),
      at: fc.nat(scale - 1),
      length: fc.nat(scale - 1),
      unit: fc.constantFrom(...units),
      seed: fc.integer({ min: 1, max: 1 << 20 }),
    }),
  })),
  { weight: weights.flush, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: weights.reopen, arbitrary: fc.constant({ kind: 'reopen' as const }) },
  ...(['snapshot', 'apply', 'delete'] as const).map((kind) => ({
    weight: weights[kind],
    arbitrary: fc.record({ kind: fc.constant(kind), which: fc.nat(7) }),
  })),
  {
    weight: weights.resize,
    arbitrary: fc.record({
      kind: fc.constant('resize' as const),
      size: fc.nat(scale - 1),
      preallocation: fc.constantFrom(...preallocations),
    }),
  },
) as fc.Arbitrary<Operation>;
