/**
 * How many times as fast as a plain loop. From the repository's root, with Node 22.18 or newer:
 *   node --conditions=@blockyard/source packages/zero-detect/bench/scan.ts
 * or with any: npx tsx --conditions=@blockyard/source packages/zero-detect/bench/scan.ts
 */
import { implementation, isZero } from '../src/index.ts';
import { createScan } from '../src/scan.node.ts';
import { scanWords } from '../src/scan-words.ts';

const ROUNDS = 9;
const BYTES_PER_ROUND = 2e7;

const plainLoop = (view: Uint8Array): boolean => {
  for (let i = 0; i < view.length; i++) if (view[i] !== 0) return false;
  return true;
};
const withoutAddon = createScan(undefined);

const subjects: Record<string, (view: Uint8Array) => boolean> = {
  'plain loop': plainLoop,
  words: (view) => scanWords(view, 0, view.length) === -1,
  'without addon': (view) => withoutAddon(view, 0, view.length) === -1,
  [`isZero (${implementation()})`]: isZero,
};

/** GB/s in one round. */
const measure = (isAllZero: (view: Uint8Array) => boolean, view: Uint8Array): number => {
  const repeats = Math.ceil(BYTES_PER_ROUND / view.length);
  let zero = 0;
  const start = process.hrtime.bigint();
  for (let i = 0; i < repeats; i++) if (isAllZero(view)) zero++;
  const nanoseconds = Number(process.hrtime.bigint() - start);
  if (zero !== repeats) throw new Error('a scan saw what is not there');
  return (repeats * view.length) / nanoseconds;
};

const median = (values: number[]): number => values.sort((x, y) => x - y)[values.length >> 1] as number;

for (const size of [512, 4096, 65_536, 1_048_576]) {
  const view = new Uint8Array(size);
  const results = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
  // In turn, so that a noisy moment does not hit one alone.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, subject] of Object.entries(subjects)) results.get(name)?.push(measure(subject, view));
  }
  const base = median(results.get('plain loop') as number[]);
  for (const [name, values] of results) {
    const speed = median(values);
    console.log(`${size} B  ${name}: ${(speed / base).toFixed(1)} x  (${speed.toFixed(1)} GB/s)`);
  }
}
