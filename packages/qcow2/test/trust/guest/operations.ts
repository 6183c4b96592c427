/** One thing that is done to a disk; places are scaled to the disk when it is done. */
export type Operation =
  | { kind: RangeKind; at: number; length: number; unit: Unit; seed: number }
  | { kind: 'snapshot' | 'apply' | 'delete'; which: number }
  | { kind: 'resize'; size: number; preallocation: 'off' | 'metadata' | 'falloc' | 'full' }
  | { kind: 'flush' | 'reopen' };

export const rangeKinds = ['read', 'write', 'fua', 'compressed', 'zero', 'unmap', 'discard'] as const;
export type RangeKind = (typeof rangeKinds)[number];
export const units = ['byte', 'sector', 'cluster'] as const;
/** What the place and the length of a request are multiples of. */
export type Unit = (typeof units)[number];
export type RangeOperation = Extract<Operation, { at: number }>;

export const isRange = (operation: Operation): operation is RangeOperation => 'at' in operation;

/** `at` and `length` of an operation go up to this. */
export const scale = 1000;

/** Where an operation is on a disk; undefined where the disk is too small to have it anywhere. */
export function place(
  { kind, at, length, unit }: RangeOperation,
  size: number,
  clusterSize: number,
): { offset: number; length: number } | undefined {
  const step = { byte: 1, sector: 512, cluster: clusterSize }[kind === 'compressed' ? 'cluster' : unit];
  const offset = Math.floor((at / scale) * Math.ceil(size / step)) * step;
  if (offset >= size) return undefined;
  const most = Math.min(size, Math.max(4 * clusterSize, 1 << 16));
  const wanted = Math.max(1, Math.round(((length / scale) ** 3 * most) / step)) * step;
  return { offset, length: Math.min(wanted, size - offset) };
}
