import type { BlockNode } from '@blockyard/core';
import { ExtentCursor } from '../cursor.ts';
import { Origins } from '../origins.ts';
import { parts } from '../parts.ts';
import type { Segment, SegmentRules } from '../segments.ts';

type Kind = 'same' | 'zero' | 'data' | 'unknown';

/**
 * Cuts a disk into segments for a target with a backing file. Bytes that must be the same behind the target are left
 * out; what the source's own top layer has is copied; the rest is to be compared, as the two backing files may differ.
 */
export async function* segmentsOverBacking(
  cursor: ExtentCursor,
  target: BlockNode,
  rules: SegmentRules,
  signal: AbortSignal | undefined,
): AsyncGenerator<Segment, void, undefined> {
  const origins = new Origins(cursor.node, target);
  const below = new ExtentCursor(target, signal);
  const decide = async (offset: number, end: number): Promise<{ length: number; kind: Kind }> => {
    const [ours, theirs] = [await cursor.at(offset, end), await below.at(offset, end)];
    const length = Math.min(ours.length, theirs.length);
    const behind = theirs.depth > 0 || !theirs.present;
    if (behind && origins.same(ours, theirs)) return { length, kind: 'same' };
    if (ours.zero) return { length, kind: 'zero' };
    return { length, kind: behind && ours.depth > 0 ? 'unknown' : 'data' };
  };
  const plan = parts(decide, {
    end: rules.end,
    align: rules.align,
    mixed: 'unknown',
    longest: (kind) => (kind === 'same' || kind === 'zero' ? rules.zeroChunk : rules.chunk),
  });
  for await (const { offset, length, kind } of plan) {
    const behind = kind === 'same' || kind === 'unknown' ? kind : undefined;
    yield { offset, length, zero: kind === 'zero', behind };
  }
}
