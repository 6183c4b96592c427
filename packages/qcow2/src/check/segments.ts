/** A part of the file that a table, or several, occupy. */
export interface Range {
  offset: number;
  length: number;
  /** How often it is referred to. */
  times: number;
  /** How often of these by the disk as it is now. */
  active: number;
}

/**
 * The same bytes as ranges that do not overlap: many tables at one place are read once, however many there are.
 */
export function disjoint(ranges: readonly Range[]): Range[] {
  const edges = ranges
    .filter(({ length }) => length > 0)
    .flatMap(({ offset, length, times, active }) => [
      { at: offset, times, active },
      { at: offset + length, times: -times, active: -active },
    ])
    .sort((a, b) => a.at - b.at);
  const found: Range[] = [];
  let times = 0;
  let active = 0;
  edges.forEach((edge, i) => {
    times += edge.times;
    active += edge.active;
    const end = edges[i + 1]?.at ?? edge.at;
    if (times > 0 && end > edge.at) found.push({ offset: edge.at, length: end - edge.at, times, active });
  });
  return found;
}
