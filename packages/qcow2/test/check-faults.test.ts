import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkImage } from '../src/check/check-image.ts';
import { Damage } from './support/damage.ts';
import { pattern } from './support/encode.ts';
import { afterPowerCut, FailingFile } from './support/failing-file.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, registry } from './support/open.ts';
import { expectKept, readable } from './support/readable.ts';

function image(): Uint8Array {
  const builder = new ImageBuilder({ size: 1 << 20, clusterBits: 12 });
  builder.data(0, pattern(20 * 4096));
  builder.snapshot('1', 'one');
  builder.data(8192, pattern(4096, 5));
  return builder.build();
}

async function check(bytes: Uint8Array, repair?: 'leaks' | 'all') {
  const file = await registry.openNode(inMemory(bytes.slice()));
  const result = await checkImage(file, { repair });
  await file.close();
  return result;
}

/** The clusters whose refcount is too low: the only ones at risk. */
const atRisk = (findings: readonly string[]): number =>
  findings.filter((text) => {
    const [, stored, references] = /has the refcount (\d+) and (\d+) references/.exec(text) ?? [];
    return Number(stored) < Number(references);
  }).length;

const damages: Record<string, (damage: Damage) => void> = {
  'refcounts too low and too high': (d) => d.refcount(3, 0).refcount(5, 1).refcount(7, 9).refcount(8, 3),
  'wrong copied flags': (d) => {
    for (let i = 0; i < 20; i++) d.put(d.l2() + i * 8, d.get(d.l2() + i * 8) ^ (1n << 63n));
  },
  'no refcount block': (d) => d.put(d.refcountTable, 0),
  'no refcount table': (d) => d.put(48, 0x40000000),
  'a misplaced zero cluster and a leak': (d) =>
    d.put(d.l2() + 32, (d.get(d.l2() + 32) + 512n) | 1n).refcount(8, 5),
  'two entries of one cluster': (d) => d.put(d.l2() + 8, d.get(d.l2() + 16)),
  'marked dirty': (d) => d.put(72, 1).refcount(6, 0),
};

describe.each(Object.entries(damages))('%s', (_name, damage) => {
  const damaged = () => {
    const made = new Damage(image());
    damage(made);
    return made.bytes;
  };

  const seen = new Set<string>();

  async function expectNoWorse(left: Uint8Array, before: Uint8Array): Promise<void> {
    const key = createHash('sha256').update(left).digest('hex');
    if (seen.has(key)) return;
    seen.add(key);
    const was = await check(before);
    const is = await check(left);
    expect(atRisk(is.findings), is.findings.join('\n')).toBeLessThanOrEqual(atRisk(was.findings));
    expectKept(await readable(before), await readable(left));
    const final = await check(left, 'all');
    expect(final, final.findings.join('\n')).toMatchObject({ corruptions: 0, leaks: 0, checkErrors: 0 });
  }

  test.each(['leaks', 'all'] as const)(
    'a repair (%s) that fails at any request leaves it no worse',
    async (repair) => {
      const whole = new FailingFile(damaged());
      await checkImage(await whole.open(), { repair });
      for (let failAt = 1; failAt <= whole.requests; failAt++) {
        const file = new FailingFile(damaged());
        file.failAt = failAt;
        await checkImage(await file.open(), { repair }).catch((error: unknown) =>
          expect(error).toMatchObject({ code: 'EIO' }),
        );
        await expectNoWorse(file.bytes, damaged());
      }
    },
  );

  test.each(['leaks', 'all'] as const)('a repair (%s) that one failed request interrupts', async (repair) => {
    const whole = new FailingFile(damaged());
    await checkImage(await whole.open(), { repair });
    for (let failAt = 1; failAt <= whole.requests; failAt++) {
      const file = new FailingFile(damaged());
      file.failAt = failAt;
      file.failOnce = true;
      await checkImage(await file.open(), { repair }).catch((error: unknown) =>
        expect(error).toMatchObject({ code: 'EIO' }),
      );
      await expectNoWorse(file.bytes, damaged());
    }
  });

  test.each(['leaks', 'all'] as const)(
    'a power cut during a repair (%s) leaves it no worse',
    async (repair) => {
      const file = new FailingFile(damaged());
      const states: Uint8Array[] = [];
      let seed = 1;
      file.onFlush = (durable, pending) => {
        if (pending.length === 0) return;
        for (let i = 0; i < 6; i++) {
          states.push(
            afterPowerCut(durable, pending, () => {
              seed = (seed * 16807) % 2147483647;
              return (seed >> 8) % 2 === 0;
            }),
          );
        }
      };
      await checkImage(await file.open(), { repair });
      expect(file.pending).toEqual([]);
      for (const state of states) await expectNoWorse(state, damaged());
    },
  );
});

test('a table that cannot be read is no reason to free what it may refer to', async () => {
  const bytes = new Damage(image()).refcount(8, 5).bytes;
  const file = new FailingFile(bytes);
  file.badByte = new Damage(bytes).l2();
  const result = await checkImage(await file.open(), { repair: 'all' });
  expect(result.checkErrors).toBeGreaterThan(0);
  expect(result.leaksFixed).toBe(0);
  expect(result.findings.join('\n')).toMatch(/could not be read/);
});
