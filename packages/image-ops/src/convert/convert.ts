import { BlockError, type BlockNode } from '@blockyard/core';
import { clusterSizeOf, unitOf } from '../clusters.ts';
import { ExtentCursor } from '../cursor.ts';
import { geometry } from '../geometry.ts';
import { runLanes } from '../lanes.ts';
import { ProgressCounter } from '../operation.ts';
import { refuse } from '../refuse.ts';
import { segments } from '../segments.ts';
import { Slots } from '../slots.ts';
import { Turns } from '../turns.ts';
import { segmentsOverBacking } from './behind.ts';
import { copyBitmaps, planBitmaps } from './bitmaps.ts';
import { Copier } from './copier.ts';
import { createOffload } from './offload.ts';
import { type ConvertOptions, checkSparse, defaultSparse } from './options.ts';
import { type ConvertResult, emptyResult } from './result.ts';
import { Salvage } from './salvage.ts';

/** One request to write zeroes is no longer than this, so that progress and aborts are not far away. */
const zeroChunk = 256 << 20;
/** The same of a copy below user space. */
const hostChunk = 16 << 20;
/** Clusters being compressed at once: enough for many cores. Each is in memory twice. */
const compressions = 32;
const compressionBytes = 8 << 20;

/**
 * Copies the content of one disk to another, moving no zeroes that it knows of, and flushes the target. The target is
 * at least as large; what it has beyond the source's size is left as it is.
 * @throws BlockError with the offset of the request that failed. Everything started has settled by then.
 */
export async function convert(
  source: BlockNode,
  target: BlockNode,
  options: ConvertOptions = {},
): Promise<ConvertResult> {
  const { sparse = defaultSparse, targetIsZero = false, backing = false, signal } = options;
  checkSparse(sparse);
  if (backing && targetIsZero)
    throw new TypeError(
      'targetIsZero: a target that shows its backing file is not zero; leave it out with backing',
    );
  signal?.throwIfAborted();
  const { size } = source;
  checkFits(size, source, target);
  const compressed = options.compressed ? compression(target) : undefined;
  const bitmaps = options.bitmaps
    ? await planBitmaps(source, target, options.skipBrokenBitmaps ?? false)
    : undefined;
  const perLane = backing ? 2 : 1;
  const align = compressed?.clusterSize ?? unitOf(target);
  const cut = geometry([source, target], options, { op: 'convert', size, perLane, align });
  const cursor = new ExtentCursor(source, signal, { lenient: options.salvage });
  const result = emptyResult(size);
  const offload = options.copyRange && !backing ? createOffload(target) : undefined;
  const salvage = options.salvage ? new Salvage(source, signal) : undefined;
  const progress = new ProgressCounter(size, options);
  const turns = options.outOfOrder ? undefined : new Turns();
  const copier = new Copier({
    ...{ source, target, geometry: cut, perLane, result, progress, sparse, targetIsZero },
    ...{ offload, salvage, compressed, turns, signal },
  });
  const rules = {
    end: size,
    align: cut.align,
    chunk: cut.chunk,
    zeroChunk: targetIsZero && sparse !== 0 ? Number.MAX_SAFE_INTEGER : zeroChunk,
    hostChunk: offload ? hostChunk : 0,
  };
  const plan = backing ? segmentsOverBacking(cursor, target, rules, signal) : segments(cursor, rules);
  try {
    await runLanes(
      plan,
      cut.lanes,
      (segment, lane, sequence) => copier.work(segment, lane, sequence),
      () => turns?.end(),
    );
  } finally {
    cut.release();
  }
  if (bitmaps) await copyBitmaps(bitmaps, source, target);
  await target.flush({ signal });
  result.requests.blockStatus = cursor.asked;
  if (salvage) result.lost = salvage.summary();
  if (bitmaps) {
    result.bitmaps = { copied: bitmaps.copied.map(({ name }) => name), skipped: bitmaps.skipped };
  }
  return result;
}

function compression(target: BlockNode): { clusterSize: number; slots: Slots } {
  const clusterSize = clusterSizeOf(target);
  if (!target.supports.compress || clusterSize === undefined) {
    const text = `the driver '${target.driver}' cannot store compressed data; choose another format, or leave out compressed`;
    throw refuse('ERR_NOT_SUPPORTED', 'convert', target, text);
  }
  const count = Math.max(4, Math.min(compressions, Math.floor(compressionBytes / clusterSize)));
  return { clusterSize, slots: new Slots(count) };
}

function checkFits(size: number, source: BlockNode, target: BlockNode): void {
  if (target.size >= size) return;
  const where = target.path ? ` ${target.path}` : '';
  const text = `convert to${where}: the target has ${target.size} bytes and the source ${size}; make the target larger, or choose another`;
  const details = {
    op: 'convert',
    path: target.path || source.path || undefined,
    node: target.name,
    driver: target.driver,
  };
  throw new BlockError('ERR_OUT_OF_BOUNDS', text, details);
}
