import type { BlockNode, MaybePromise } from '@blockyard/core';

/** The nodes whose `copyRange` can do the work of a conversion, and where the target's bytes begin in its own. */
export interface Offload {
  /** For data that lies in the protocol node `host`: copies to the disk offset `offset`. 0 where it cannot. */
  copy(
    host: BlockNode,
    hostOffset: number,
    offset: number,
    length: number,
    signal: AbortSignal | undefined,
  ): MaybePromise<number>;
  /** Gives up for good: every range was refused. */
  readonly useless: boolean;
}

/** After so many refusals and no success it is not asked again: each costs a system call. */
const patience = 4;

/** Undefined where the target cannot copy ranges. */
export function createOffload(target: BlockNode): Offload | undefined {
  const place = bytesOf(target);
  if (!place?.node.supports.copyRange) return undefined;
  let refused = 0;
  let worked = false;
  return {
    get useless() {
      return !worked && refused >= patience;
    },
    async copy(host, hostOffset, offset, length, signal) {
      if (host.driver !== place.node.driver) return 0;
      try {
        const copied = await place.node.copyRange(host, hostOffset, place.offset + offset, length, {
          signal,
        });
        if (copied > 0) worked = true;
        else refused++;
        return copied;
      } catch {
        // Whatever it was, reading and writing will meet it again, or not; an abort too.
        signal?.throwIfAborted();
        refused++;
        return 0;
      }
    },
  };
}

/** Below the raw format, whose bytes are the file's own, from an offset on. */
function bytesOf(target: BlockNode): { node: BlockNode; offset: number } | undefined {
  if (target.kind === 'protocol') return { node: target, offset: 0 };
  const { file } = target.children;
  if (target.driver !== 'raw' || file?.kind !== 'protocol') return undefined;
  const { offset = 0, probed } = target.describeOptions() as { offset?: number; probed?: boolean };
  // A target whose format was guessed guards its first sector itself.
  return probed ? undefined : { node: file, offset };
}
