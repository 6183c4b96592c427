/** The word that was probably meant: at most two letters wrong, and not most of them. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(word.length / 2));
  for (const candidate of known) {
    const wrong = distance(word, candidate);
    if (wrong >= least) continue;
    least = wrong;
    best = candidate;
  }
  return best;
}

/** Letters to change, add, leave out or swap with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const cheapest = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(cheapest, (before[j - 2] as number) + 1) : cheapest);
    }
    before = last;
    last = row;
  }
  return last[b.length] as number;
}
