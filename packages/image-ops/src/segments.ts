import { alignDown, alignUp, type BlockNode, type Extent } from '@blockyard/core';
import { Breath } from './breath.ts';
import type { ExtentCursor } from './cursor.ts';

/** A part of a disk that is dealt with by one request, or by none. */
export interface Segment {
  offset: number;
  length: number;
  /** Known to be zero, without a look at the bytes. */
  zero: boolean;
  /** Where the bytes are, when all of them lie together in one protocol node. */
  host?: { node: BlockNode; offset: number } | undefined;
  /** Of a target with a backing file: it shows the same there, or perhaps does. */
  behind?: 'same' | 'unknown' | undefined;
}

export interface SegmentRules {
  start?: number;
  end: number;
  /** Cuts between zeroes and data are multiples of it; what is partly zero counts as data. */
  align: number;
  /** Data is cut at multiples of it. */
  chunk: number;
  /** Longest segment of zeroes. */
  zeroChunk: number;
  /** Keep what lies together in a file together, up to so many bytes; 0 asks for no `host`. */
  hostChunk: number;
}

/** Cuts a disk into segments, in order and without gaps. Asks as it goes, so that copying can begin at once. */
export async function* segments(
  cursor: ExtentCursor,
  rules: SegmentRules,
): AsyncGenerator<Segment, void, undefined> {
  const { end, align } = rules;
  // Data seen and not yet given out: [from, at).
  let from = rules.start ?? 0;
  let host: Segment['host'];
  const breath = new Breath();
  for (let at = from; at < end; ) {
    const pause = breath.take();
    if (pause) await pause;
    const answer = cursor.at(at, end);
    const extent = answer instanceof Promise ? await answer : answer;
    const stop = at + extent.length;
    const zeroFrom = alignUp(at, align);
    const zeroTo = stop === end ? end : alignDown(stop, align);
    if (extent.zero && zeroTo > zeroFrom) {
      yield* dataSegments(from, zeroFrom, true, host, rules);
      for (let offset = zeroFrom; offset < zeroTo; offset += rules.zeroChunk) {
        yield { offset, length: Math.min(rules.zeroChunk, zeroTo - offset), zero: true };
      }
      from = zeroTo;
      host = undefined;
    } else {
      const here = rules.hostChunk > 0 && !extent.zero ? hostOf(extent) : undefined;
      const cutHere = at > from && rules.hostChunk > 0 && at % align === 0 && !sameHost(host, from, here, at);
      if (cutHere) {
        yield* dataSegments(from, at, true, host, rules);
        from = at;
      }
      if (at === from) host = here;
      else if (!sameHost(host, from, here, at)) host = undefined;
    }
    at = stop;
    if (from < at) {
      const rest: number = yield* dataSegments(from, at, at === end, host, rules);
      if (host) host = { node: host.node, offset: host.offset + rest - from };
      from = rest;
    }
  }
}

/** Gives out whole chunks, and with `all` the rest; returns where it stopped. */
function* dataSegments(
  start: number,
  end: number,
  all: boolean,
  host: Segment['host'],
  rules: SegmentRules,
): Generator<Segment, number, undefined> {
  const chunk = host ? rules.hostChunk : rules.chunk;
  let offset = start;
  while (offset < end) {
    const cut = alignDown(offset + chunk, chunk);
    if (cut > end && !all) break;
    const stop = Math.min(cut, end);
    const place = host && { node: host.node, offset: host.offset + offset - start };
    yield { offset, length: stop - offset, zero: false, host: place };
    offset = stop;
  }
  return offset;
}

function hostOf(extent: Extent): Segment['host'] {
  const { hostNode: node, hostOffset: offset, compressed } = extent;
  return node && offset !== undefined && !compressed ? { node, offset } : undefined;
}

/** Whether what is at `at` follows, in the same file, what is at `from`. */
function sameHost(host: Segment['host'], from: number, next: Segment['host'], at: number): boolean {
  if (!host || !next) return host === next;
  return host.node === next.node && next.offset === host.offset + at - from;
}
