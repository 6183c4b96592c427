import type { Growing } from './growing.ts';

/** When a request was handed over, and when it was acknowledged, on the machine's clock. */
export interface Span {
  started: number;
  ended: number;
}

/** One request that changes a file. A discard leaves bytes that nothing may rely on. */
export interface Change extends Span {
  kind: 'write' | 'zero' | 'discard' | 'grow' | 'shrink';
  offset: number;
  length: number;
  bytes?: Uint8Array;
}

export const sectorBytes = 512;
const discarded = 0xd5;

/** The part of a change from `start` to `end`, made. */
export function makePart(file: Growing, change: Change, start: number, end: number): void {
  const { kind, offset, bytes } = change;
  if (kind === 'write') file.put(start, (bytes as Uint8Array).subarray(start - offset, end - offset));
  else if (kind === 'zero') file.put(start, new Uint8Array(end - start));
  else if (kind === 'discard') {
    // It never makes a file longer.
    if (start < file.size) file.view(start, Math.min(end, file.size)).fill(discarded);
  } else if (kind === 'grow') file.resize(Math.max(file.size, offset));
  else file.resize(Math.min(file.size, offset));
}

export const make = (file: Growing, change: Change): void =>
  makePart(file, change, change.offset, change.offset + change.length);
