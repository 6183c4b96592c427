import { describe, expect, it } from 'vitest';
import { crashRun } from './runs/crash.ts';
import { imageOf } from './runs/qcow2.ts';
import { plain } from './setup/plain.ts';
import type { Subject } from './setup/subject.ts';
import { type Flaw, toy } from './setup/toy.ts';

async function crash(subject: Subject, honest = () => true): Promise<void> {
  for (let seed = 1; seed <= 5; seed++) await crashRun(subject, { seed, points: 60, honest });
}

describe('the crash test', () => {
  it('accepts a disk that has nothing to get wrong', () => crash(plain(200_000)));
  it('accepts a small format that is right', () => crash(toy('none')));

  it.each<Flaw>(['mapping before data', 'no second flush', 'frees too early'])(
    'finds a small format with %s',
    async (flaw) => {
      await expect(crash(toy(flaw))).rejects.toThrow(/^power cut/);
    },
  );

  it.each([plain(200_000), toy('none')])(
    'finds a device that lies about flush, below $name',
    async (subject) => {
      await expect(crash(subject, () => false)).rejects.toThrow(/^power cut/);
      let flushes = 0;
      await expect(crash(subject, () => flushes++ % 4 !== 0)).rejects.toThrow(/^power cut/);
    },
  );
});

describe('a power cut while a qcow2 image is written', () => {
  it.each([28, 31, 56, ...Array.from({ length: 10 }, (_, i) => i + 1)])(
    'costs leaks at most (seed %i)',
    async (seed) => {
      await crashRun(imageOf(seed), { seed, points: 16 });
    },
  );

  it.each([1, 2, 3, 4, 5])(
    'is found to cost more where the device lies about flush (seed %i)',
    async (seed) => {
      await expect(crashRun(imageOf(seed), { seed, points: 40, honest: () => false })).rejects.toThrow(
        /^power cut/,
      );
    },
  );
});
