import type { BlockNode, Extent, MaybePromise } from '@blockyard/core';
import { chainOf, sameImage, withoutFilters } from './chain.ts';
import { sparseRuns } from './convert/zero-runs.ts';
import { ExtentCursor } from './cursor.ts';
import { differences } from './differences.ts';
import { settleAll } from './failure.ts';
import { type Geometry, geometry } from './geometry.ts';
import { runLanes } from './lanes.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';
import { Origins } from './origins.ts';
import { type Part, parts } from './parts.ts';
import { checkWritable, refuse } from './refuse.ts';
import { readAt, writeAt, zeroAt } from './requests.ts';

export interface RebaseOptions extends OperationOptions {
  /** The open image that is to be behind; undefined for none. With `unsafe` it may be left out. */
  newBacking: BlockNode | undefined;
  /** What the image is to record: a name as seen from the image, and the name of a format driver. */
  name: string | undefined;
  format: string | undefined;
  /** Only record the name. The disk then shows whatever is in the new backing file. */
  unsafe?: boolean | undefined;
}

export interface RebaseResult {
  /** Bytes of the disk. */
  size: number;
  /** Bytes that were read of both to tell whether they differ. */
  bytesCompared: number;
  bytesWritten: number;
  bytesZeroWritten: number;
}

type Kind = 'keep' | 'zero' | 'compare';

const zeroChunk = 256 << 20;
/** Units that are compared, where the image has no clusters. */
const compareBytes = 64 << 10;

/**
 * Puts another backing file behind an image that is open for writing, with its old backing file behind it. What the two
 * show differently is written into the image first, so that its disk stays as it is. Open the image anew afterwards:
 * the open node goes on showing the old one.
 */
export async function rebase(node: BlockNode, options: RebaseOptions): Promise<RebaseResult> {
  const { newBacking, name, format, unsafe = false, signal } = options;
  signal?.throwIfAborted();
  if (!unsafe && (name === undefined) !== (newBacking === undefined))
    throw new TypeError('rebase: newBacking is the open image that name stands for: give both, or neither');
  checkWritable('rebase', node);
  const image = withoutFilters(node);
  if (!image.features.changeBacking) {
    const text = `the driver '${image.driver}' cannot record another backing file`;
    throw refuse('ERR_NOT_SUPPORTED', 'rebase', node, text);
  }
  if (newBacking && chainOf(newBacking).some((layer) => sameImage(layer, image))) {
    const text = `it is itself in the chain of ${newBacking.path || 'the new backing file'}: the two would lead to each other`;
    throw refuse('ERR_REFERENCE_CHAIN', 'rebase', node, text);
  }
  const result = { size: node.size, bytesCompared: 0, bytesWritten: 0, bytesZeroWritten: 0 };
  if (!unsafe) {
    await keepContent(node, newBacking, image.features.clusterSize, result, options);
    await node.flush({ signal });
    signal?.throwIfAborted();
  }
  await image.features.changeBacking(name, format);
  return result;
}

/** Writes into the image what it would show differently with `backing` behind it. */
async function keepContent(
  node: BlockNode,
  backing: BlockNode | undefined,
  clusterSize: number | undefined,
  result: RebaseResult,
  options: OperationOptions,
): Promise<void> {
  const { signal } = options;
  const { size } = node;
  const nodes = backing ? [node, backing] : [node];
  const cut = geometry(nodes, options, { op: 'rebase', size, perLane: 2, align: clusterSize ?? 1 });
  const progress = new ProgressCounter(size, options);
  const copier = new Rebaser(node, backing, cut, clusterSize ?? compareBytes, result, signal);
  const plan = parts(differenceAt(node, backing, signal), {
    end: size,
    align: cut.align,
    mixed: 'compare',
    longest: (kind) => (kind === 'compare' ? cut.chunk : zeroChunk),
  });
  try {
    await runLanes(plan, cut.lanes, async (part, lane) => {
      signal?.throwIfAborted();
      await copier.work(part, lane);
      progress.add(part.length, part.kind === 'zero' ? part.length : 0);
    });
  } finally {
    cut.release();
  }
}

/** Tells, without a look at bytes, where the disk could change. */
function differenceAt(
  node: BlockNode,
  backing: BlockNode | undefined,
  signal: AbortSignal | undefined,
): (offset: number, end: number) => Promise<{ length: number; kind: Kind }> {
  const old = new ExtentCursor(node, signal);
  const next = backing && new ExtentCursor(backing, signal);
  const origins = backing && new Origins(node, backing);
  const behind = (offset: number, end: number): MaybePromise<Extent> => {
    if (next && offset < next.node.size) return next.at(offset, Math.min(end, next.node.size));
    const nothing = { data: false, zero: true, present: false, depth: 0, compressed: false };
    return { offset, length: end - offset, ...nothing };
  };
  return async (offset, end) => {
    const before = await old.at(offset, end);
    if (before.present && before.depth === 0) return { length: before.length, kind: 'keep' };
    const after = await behind(offset, end);
    const length = Math.min(before.length, after.length);
    const same = origins ? origins.same(before, after) : before.zero && after.zero;
    return { length, kind: same ? 'keep' : before.zero ? 'zero' : 'compare' };
  };
}

class Rebaser {
  readonly #node: BlockNode;
  readonly #backing: BlockNode | undefined;
  readonly #cut: Geometry;
  readonly #unit: number;
  readonly #result: RebaseResult;
  readonly #signal: AbortSignal | undefined;

  constructor(
    node: BlockNode,
    backing: BlockNode | undefined,
    cut: Geometry,
    unit: number,
    result: RebaseResult,
    signal: AbortSignal | undefined,
  ) {
    this.#node = node;
    this.#backing = backing;
    this.#cut = cut;
    this.#unit = unit;
    this.#result = result;
    this.#signal = signal;
  }

  async work({ offset, length, kind }: Part<Kind>, lane: number): Promise<void> {
    if (kind === 'zero') await this.#zero(offset, length);
    else if (kind === 'compare') await this.#compare(offset, length, lane);
  }

  async #compare(offset: number, length: number, lane: number): Promise<void> {
    const [data, other] = [0, 1].map((index) => this.#cut.buffers[lane * 2 + index]?.subarray(0, length)) as [
      Uint8Array,
      Uint8Array,
    ];
    // What the disk shows now is right, whatever layer it comes from.
    await settleAll([readAt(this.#node, offset, data, this.#signal), this.#readBacking(offset, other)]);
    this.#result.bytesCompared += length;
    const writes: Promise<void>[] = [];
    for (const part of differences(data, other, offset, this.#unit)) {
      const bytes = data.subarray(part.start, part.start + part.length);
      for (const run of sparseRuns(bytes, offset + part.start, this.#unit, this.#unit)) {
        const at = offset + part.start + run.start;
        writes.push(
          run.zero
            ? this.#zero(at, run.length)
            : this.#write(at, bytes.subarray(run.start, run.start + run.length)),
        );
      }
    }
    await settleAll(writes);
  }

  /** Beyond its end there are zeroes. */
  async #readBacking(offset: number, into: Uint8Array): Promise<void> {
    const have = Math.max(0, Math.min(into.byteLength, (this.#backing?.size ?? 0) - offset));
    into.fill(0, have);
    if (this.#backing && have > 0) await readAt(this.#backing, offset, into.subarray(0, have), this.#signal);
  }

  async #write(offset: number, bytes: Uint8Array): Promise<void> {
    await writeAt(this.#node, offset, bytes, { signal: this.#signal });
    this.#result.bytesWritten += bytes.byteLength;
  }

  async #zero(offset: number, length: number): Promise<void> {
    await zeroAt(this.#node, offset, length, { signal: this.#signal });
    this.#result.bytesZeroWritten += length;
  }
}
