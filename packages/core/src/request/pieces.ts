import { byteLength, type IoData, slice, split } from '@blockyard/iov-utils';
import { type BlockLimits, minNonZero } from '../limits.ts';
import type { Memory } from '../memory.ts';
import { alignDown, alignUp } from './align.ts';

/** A part of a request that the driver takes at once: in the caller's memory, or copied through aligned memory. */
export interface Piece {
  readonly offset: number;
  readonly data: IoData;
  readonly bounce: boolean;
}

/** A bounce buffer is no larger than this: more makes no faster requests, and costs memory. */
const bounceBytes = 1 << 20;

/** With less than this between head and tail, one copied request beats two or three. */
const worthSplitting = 1 << 16;

/** The most bytes that one request to the driver may have. */
export function transferLimit(limits: BlockLimits): number {
  const limit = minNonZero(limits.maxTransfer, limits.maxHwTransfer);
  return limit === 0 ? 0 : Math.max(limits.requestAlignment, alignDown(limit, limits.requestAlignment));
}

const iovLimit = (limits: BlockLimits): number => minNonZero(limits.maxIov, limits.maxHwIov);

const orInfinity = (limit: number): number => limit || Number.POSITIVE_INFINITY;

/** Whether the driver can take the request just as it is. `memory` undefined: any memory will do. */
export function isLegal(
  offset: number,
  length: number,
  data: IoData,
  limits: BlockLimits,
  memory: Memory | undefined,
): boolean {
  if (limits.requestAlignment !== 1 && (offset % limits.requestAlignment || length % limits.requestAlignment))
    return false;
  const most = minNonZero(limits.maxTransfer, limits.maxHwTransfer);
  if (most !== 0 && length > most) return false;
  if (Array.isArray(data) && iovLimit(limits) !== 0 && data.length > iovLimit(limits)) return false;
  return (
    memory === undefined || limits.minMemAlignment === 1 || memory.isAligned(data, limits.minMemAlignment)
  );
}

/** Cuts a request into pieces that the driver can take, copying as little as possible. */
export function pieces(
  offset: number,
  data: IoData,
  limits: BlockLimits,
  memory: Memory | undefined,
): Piece[] {
  const { requestAlignment: alignment } = limits;
  const memAlignment = memory ? limits.minMemAlignment : 1;
  const fits = (part: IoData) =>
    memAlignment === 1 || memory === undefined || memory.isAligned(part, memAlignment);
  const end = offset + byteLength(data);
  const bodyStart = alignUp(offset, alignment);
  const bodyEnd = alignDown(end, alignment);
  const whole = bodyStart === offset && bodyEnd === end;
  if (bodyEnd - bodyStart >= (whole ? 1 : worthSplitting)) {
    const body = slice(data, bodyStart - offset, bodyEnd - offset);
    const maxElements = orInfinity(iovLimit(limits));
    // Buffers so small that as many as the driver takes may hold less than a block cannot be cut, only copied.
    const cuttable =
      !Array.isArray(body) || body.length <= maxElements || maxElements * memAlignment >= alignment;
    if (cuttable && fits(body)) {
      const found: Piece[] = [];
      if (bodyStart > offset) found.push({ offset, data: slice(data, 0, bodyStart - offset), bounce: true });
      const maxBytes = orInfinity(transferLimit(limits));
      // Both are powers of two: pieces that are multiples of the larger keep the memory of the next one aligned.
      const step = Math.min(Math.max(alignment, memAlignment), maxBytes);
      let at = bodyStart;
      for (const part of split(body, { maxBytes, maxElements, alignment: step })) {
        found.push({ offset: at, data: part, bounce: !fits(part) });
        at += byteLength(part);
      }
      if (bodyEnd < end) found.push({ offset: bodyEnd, data: slice(data, bodyEnd - offset), bounce: true });
      return found;
    }
  }
  return bounced(offset, end, data, limits);
}

function bounced(start: number, end: number, data: IoData, limits: BlockLimits): Piece[] {
  const found: Piece[] = [];
  const step = Math.max(
    limits.requestAlignment,
    alignDown(minNonZero(bounceBytes, transferLimit(limits)), limits.requestAlignment),
  );
  for (let offset = start; offset < end; ) {
    const next = Math.min(end, alignDown(offset, limits.requestAlignment) + step);
    found.push({ offset, data: slice(data, offset - start, next - start), bounce: true });
    offset = next;
  }
  return found;
}
