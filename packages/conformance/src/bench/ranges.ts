export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Places where alignments begin and end, within a disk. */
export function edges(size: number, alignment: number): number[] {
  const found = new Set<number>([0, size]);
  for (const step of new Set([512, 4096, 65536, alignment])) {
    for (const at of [step, 2 * step, size - (size % step), size - step]) {
      for (const near of [at - 1, at, at + 1]) if (near >= 0 && near <= size) found.add(near);
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** Ranges of every alignment: from edge to edge, up to `longest` bytes. */
export function ranges(size: number, alignment: number, longest = 1 << 18): Range[] {
  const points = edges(size, alignment);
  const found: Range[] = [];
  for (const [i, offset] of points.entries()) {
    for (const end of points.slice(i + 1)) {
      if (end - offset <= longest) found.push({ offset, length: end - offset });
    }
  }
  return found;
}

/** At most `count` of the ranges, spread over all of them. */
export function some<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)] as T);
}

/** Cuts a buffer into parts of the given sizes, the last taking the rest. */
export function cut(buffer: Uint8Array, ...sizes: number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(buffer.subarray(at, Math.min(buffer.length, at + size)));
    at = Math.min(buffer.length, at + size);
  }
  return [...parts, buffer.subarray(at)];
}
