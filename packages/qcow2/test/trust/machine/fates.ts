import type { Random } from '../random.ts';
import { type Change, makePart, sectorBytes } from './change.ts';
import type { Growing } from './growing.ts';

type Fate = 'kept' | 'dropped' | 'torn';

/** What becomes of the changes that no flush covers, when the power fails. */
export function applyFates(file: Growing, pending: readonly Change[], random: Random): void {
  const fateOf = draw(pending, random);
  // Who comes later on the way down may reach the medium earlier.
  const ordered = random.chance(0.5) ? random.shuffle([...pending]) : pending;
  for (const change of ordered) {
    const fate = fateOf(change);
    if (fate === 'kept') makePart(file, change, change.offset, change.offset + change.length);
    else if (fate === 'torn') tear(file, change, random);
  }
}

/** Single changes that are missing or alone find a wrong order where many at once hide it. */
function draw(pending: readonly Change[], random: Random): (change: Change) => Fate {
  const one = random.pick(pending);
  switch (random.below(6)) {
    case 0:
      return (change) => (change === one ? 'kept' : 'dropped');
    case 1:
      return (change) => (change === one ? 'dropped' : 'kept');
    case 2: {
      const moment = random.chance(0.5) ? (one?.started ?? 0) : (one?.ended ?? 0);
      return (change) => (change.started <= moment ? 'kept' : 'dropped');
    }
    case 3:
      return (change) => (change === one ? 'torn' : random.chance(0.5) ? 'kept' : 'dropped');
    default: {
      const kept = random.pick([0.1, 0.5, 0.9]);
      const torn = random.pick([0, 0.3, 0.9]);
      return () => (random.chance(torn) ? 'torn' : random.chance(kept) ? 'kept' : 'dropped');
    }
  }
}

/** Sectors are whole, writes are not. */
function tear(file: Growing, change: Change, random: Random): void {
  const end = change.offset + change.length;
  const kept = random.pick([0.1, 0.5, 0.9]);
  for (let start = change.offset; start < end; ) {
    const stop = Math.min(end, (Math.floor(start / sectorBytes) + 1) * sectorBytes);
    if (random.chance(kept)) makePart(file, change, start, stop);
    start = stop;
  }
}
