import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DirtyBits } from '../src/write/dirty-bits.ts';

/** As slow and plain as can be. */
class Model {
  bits: boolean[];
  constructor(length: number) {
    this.bits = Array.from({ length }, () => false);
  }
  find(from: number, value: boolean): number {
    const found = this.bits.indexOf(value, from);
    return found < 0 ? this.bits.length : found;
  }
  stored(first: number, bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, (_, i) =>
      Array.from({ length: 8 }, (_, j) => (this.bits[first + i * 8 + j] ? 1 << j : 0)).reduce(
        (a, b) => a | b,
        0,
      ),
    );
  }
}

/** Some lengths end with a page, some within one. */
const lengths = fc.oneof(
  fc.constantFrom(1, 7, 8, 9, 32767, 32768, 32769, 65536, 98304),
  fc.integer({ min: 1, max: 120_000 }),
);
const share = fc.double({ min: 0, max: 1, noNaN: true });

function agree(bits: DirtyBits, model: Model): void {
  const { length } = model.bits;
  expect(bits.length).toBe(length);
  expect(bits.count()).toBe(model.bits.filter(Boolean).length);
  for (const value of [true, false]) {
    for (let at = 0, steps = 0; at < length && steps < 200; steps++) {
      const found = bits.find(at, value);
      expect(found).toBe(model.find(at, value));
      at = Math.max(found, at) + 1;
    }
  }
  const bytes = Math.ceil(length / 8) + 3;
  const into = new Uint8Array(bytes).fill(9);
  bits.copy(0, into);
  expect(Buffer.compare(into, model.stored(0, bytes))).toBe(0);
}

describe('DirtyBits', () => {
  it('does what plain booleans do', () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant('set' as const),
          at: share,
          length: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 90_000 })),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('resize' as const), to: lengths }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('load' as const),
          at: share,
          bytes: fc.oneof(
            fc.uint8Array({ maxLength: 50 }),
            fc.integer({ min: 1, max: 9000 }).map((length) => new Uint8Array(length).fill(0xff)),
          ),
        }),
      },
    );
    fc.assert(
      fc.property(lengths, fc.array(step, { maxLength: 12 }), (length, steps) => {
        const bits = new DirtyBits(length);
        const model = new Model(length);
        for (const one of steps) {
          const size = model.bits.length;
          if (one.kind === 'set') {
            const first = Math.floor(one.at * (size - 1));
            const last = Math.min(size, first + one.length) - 1;
            bits.set(first, last);
            model.bits.fill(true, first, last + 1);
          } else if (one.kind === 'clear') {
            bits.clear();
            model.bits.fill(false);
          } else if (one.kind === 'resize') {
            bits.resize(one.to);
            model.bits = Array.from({ length: one.to }, (_, i) => model.bits[i] ?? false);
          } else {
            const first = Math.floor((one.at * (size - 1)) / 8) * 8;
            bits.load(first, one.bytes);
            one.bytes.forEach((byte, i) => {
              for (let j = 0; j < 8; j++)
                if (byte & (1 << j) && first + i * 8 + j < size) model.bits[first + i * 8 + j] = true;
            });
          }
        }
        agree(bits, model);
      }),
      { numRuns: 150 },
    );
  });

  it('merges what is set in another', () => {
    const ranges = fc.array(fc.tuple(share, fc.integer({ min: 1, max: 70_000 })), { maxLength: 5 });
    fc.assert(
      fc.property(lengths, ranges, ranges, (length, mine, theirs) => {
        const [bits, other] = [new DirtyBits(length), new DirtyBits(length)];
        const model = new Model(length);
        for (const [into, list] of [
          [bits, mine],
          [other, theirs],
        ] as const) {
          for (const [at, count] of list) {
            const first = Math.floor(at * (length - 1));
            const last = Math.min(length, first + count) - 1;
            into.set(first, last);
            model.bits.fill(true, first, last + 1);
          }
        }
        const before = other.count();
        bits.merge(other);
        agree(bits, model);
        // They share no memory.
        bits.clear();
        bits.set(0, 0);
        expect(other.count()).toBe(before);
      }),
      { numRuns: 60 },
    );
  });

  it('tells whether something became another', () => {
    const bits = new DirtyBits(100_000);
    bits.clear();
    expect(bits.changed).toBe(false);
    bits.set(40_000, 40_100);
    expect(bits.changed).toBe(true);
    bits.changed = false;
    bits.set(40_010, 40_090);
    expect(bits.changed).toBe(false);
    bits.set(40_090, 40_101);
    expect(bits.changed).toBe(true);
    bits.changed = false;
    bits.set(0, 99_999);
    expect(bits.changed).toBe(true);
    bits.changed = false;
    bits.set(5, 99_000);
    expect(bits.changed).toBe(false);
    bits.resize(99_999);
    expect(bits.changed).toBe(true);
  });

  it('takes little memory for bits that are all the same', () => {
    const bits = new DirtyBits(2 ** 32);
    const before = process.memoryUsage().arrayBuffers;
    bits.set(0, 2 ** 32 - 1);
    expect(bits.count()).toBe(2 ** 32);
    expect(bits.find(7, false)).toBe(2 ** 32);
    bits.resize(2 ** 32 - 1);
    expect(bits.find(7, false)).toBe(2 ** 32 - 1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
  });
});
