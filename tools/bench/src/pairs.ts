/** One measurement: how much was done in a unit of time, or how long it took; `better` says which. */
export interface Measure {
  value: number;
  /** User CPU microseconds per request, where it was taken. */
  userMicros?: number | undefined;
}

export interface Case {
  readonly name: string;
  readonly peer: string;
  /** 'rate': more is better, and ours / peer counts. 'time': less is better. 'added': what ours adds counts, ours - peer. */
  readonly kind: 'rate' | 'time' | 'added';
  readonly unit: string;
  /** To reach: at least, for rates; at most, for times and what is added. */
  readonly bar: number;
  ours(): Promise<Measure>;
  theirs(): Promise<Measure>;
}

export interface Result {
  name: string;
  peer: string;
  unit: string;
  kind: Case['kind'];
  bar: number;
  ours: Measure[];
  theirs: Measure[];
  /** Of each pair, ours / theirs (or ours - theirs). */
  ratios: number[];
  ratio: number;
  met: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/**
 * Runs ours and the peer in turn, the order changing with every pair, so that a machine that drifts drifts for both.
 * The first pair warms caches and is not counted.
 */
export async function runPairs(one: Case, pairs: number, onPair: (ratio: number) => void): Promise<Result> {
  const ours: Measure[] = [];
  const theirs: Measure[] = [];
  const ratios: number[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    let a: Measure;
    let b: Measure;
    if (pair % 2 === 0) {
      a = await one.ours();
      b = await one.theirs();
    } else {
      b = await one.theirs();
      a = await one.ours();
    }
    if (pair === 0) continue;
    ours.push(a);
    theirs.push(b);
    const ratio = one.kind === 'added' ? a.value - b.value : a.value / b.value;
    ratios.push(ratio);
    onPair(ratio);
  }
  const ratio = median(ratios);
  const met = one.kind === 'rate' ? ratio >= one.bar : ratio <= one.bar;
  const { name, peer, unit, kind, bar } = one;
  return { name, peer, unit, kind, bar, ours, theirs, ratios, ratio, met };
}
