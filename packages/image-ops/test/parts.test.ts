import { expect, it } from 'vitest';
import { parts } from '../src/parts.ts';
import { noise } from './support.ts';

const kinds = ['a', 'b', 'c'] as const;
type Kind = (typeof kinds)[number];

/** The kind of every byte of a small disk: runs of random lengths. */
function randomDisk(seed: number): Kind[] {
  const bytes = noise(60, seed);
  const disk: Kind[] = [];
  for (let i = 0; i + 1 < (bytes[0] as number) % 60; i += 2)
    disk.push(
      ...new Array<Kind>(1 + ((bytes[i + 1] as number) % 40)).fill(
        kinds[((bytes[i] as number) >> 3) % 3] as Kind,
      ),
    );
  return disk;
}

it.each([1, 4, 16])(
  'parts cover the disk in order, cut at units of %s, and mix only what is mixed',
  async (align) => {
    for (let seed = 1; seed < 300; seed++) {
      const disk = randomDisk(seed);
      const end = disk.length;
      const decide = (at: number, stop: number) => {
        let next = at;
        while (next < stop && disk[next] === disk[at]) next++;
        // Sometimes two answers for one run.
        return { length: Math.max(1, next - at - (seed % 3)), kind: disk[at] as Kind };
      };
      let at = 0;
      const longest = (kind: Kind) => (kind === 'a' ? 1024 : 16);
      for await (const part of parts<Kind>(decide, { end, align, mixed: 'c', longest })) {
        expect(part.offset).toBe(at);
        expect(part.length).toBeGreaterThan(0);
        expect(part.length).toBeLessThanOrEqual(longest(part.kind));
        expect(part.offset % align).toBe(0);
        for (let unit = at; unit < at + part.length; unit += align) {
          const inside = new Set(disk.slice(unit, Math.min(end, unit + align)));
          expect(part.kind).toBe(inside.size === 1 ? [...inside][0] : 'c');
        }
        at += part.length;
      }
      expect(at).toBe(end);
    }
  },
);
