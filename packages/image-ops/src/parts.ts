import { alignDown, alignUp, type MaybePromise } from '@blockyard/core';
import { Breath } from './breath.ts';

/** A part of a disk that is dealt with in one way. */
export interface Part<K extends string> {
  offset: number;
  length: number;
  kind: K;
}

export interface PartRules<K extends string> {
  end: number;
  /** Cuts are multiples of it. */
  align: number;
  /** What becomes of a unit of `align` bytes in which one thing is to be done here and another there. */
  mixed: K;
  /** Longest part of a kind; the cuts are multiples of it. */
  longest(kind: K): number;
}

/**
 * Cuts a disk into parts, in order and without gaps. `decide` says what is to be done at an offset and how many bytes
 * that holds for; what follows may be the same.
 */
export async function* parts<K extends string>(
  decide: (offset: number, end: number) => MaybePromise<{ length: number; kind: K }>,
  rules: PartRules<K>,
): AsyncGenerator<Part<K>, void, undefined> {
  const { end, align, mixed } = rules;
  const breath = new Breath();
  // Decided and not yet given out: [from, at), all of one kind.
  let from = 0;
  let kind: K | undefined;
  for (let at = 0; at < end; ) {
    const pause = breath.take();
    if (pause) await pause;
    const answer = decide(at, end);
    const next = answer instanceof Promise ? await answer : answer;
    const stop = at + next.length;
    if (kind !== undefined && kind !== next.kind) {
      const whole = alignDown(at, align);
      if (whole > from) yield* cut(from, whole, kind, rules.longest(kind));
      from = Math.max(from, whole);
      // The unit that both kinds are in.
      kind = from < at ? mixed : next.kind;
      if (kind !== next.kind) {
        const unitEnd = Math.min(end, alignUp(at, align));
        if (stop > unitEnd) {
          yield { offset: from, length: unitEnd - from, kind };
          from = unitEnd;
          kind = next.kind;
        }
      }
    }
    kind ??= next.kind;
    at = stop;
    const longest = rules.longest(kind);
    const ready = at === end ? end : alignDown(at, longest);
    if (ready > from) {
      yield* cut(from, ready, kind, longest);
      from = ready;
      if (from === at) kind = undefined;
    }
  }
}

function* cut<K extends string>(start: number, end: number, kind: K, longest: number): Generator<Part<K>> {
  for (let offset = start; offset < end; ) {
    const stop = Math.min(end, alignDown(offset + longest, longest));
    yield { offset, length: stop - offset, kind };
    offset = stop;
  }
}
