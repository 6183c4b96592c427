import type { MappedExtent } from '@blockyard/test-images';

type Line = Pick<MappedExtent, 'start' | 'length' | 'depth' | 'present' | 'zero' | 'data'> & {
  offset?: number | undefined;
};

const continues = (a: Line, b: Line): boolean =>
  a.depth === b.depth &&
  a.present === b.present &&
  a.zero === b.zero &&
  a.data === b.data &&
  (a.offset === undefined ? b.offset === undefined : b.offset === a.offset + a.length);

/** Extents joined as far as they go on, with places only of what is there: two ways to tell the same become equal. */
export function comparable(extents: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (const { start, length, depth, present, zero, data, offset } of extents) {
    const line: Line = {
      start,
      length,
      depth,
      present,
      zero,
      data,
      ...(present && offset !== undefined ? { offset } : {}),
    };
    const last = joined.at(-1);
    if (last && continues(last, line)) last.length += length;
    else joined.push(line);
  }
  return joined;
}
