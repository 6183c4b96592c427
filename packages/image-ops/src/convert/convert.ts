import { BlockError, type BlockNode } from '@blockyard/core';
import { ExtentCursor } from '../cursor.ts';
import { geometry } from '../geometry.ts';
import { runLanes } from '../lanes.ts';
import { ProgressCounter } from '../operation.ts';
import { segments } from '../segments.ts';
import { Turns } from '../turns.ts';
import { Copier } from './copier.ts';
import { createOffload } from './offload.ts';
import { type ConvertOptions, checkSparse, defaultSparse } from './options.ts';
import { type ConvertResult, emptyResult } from './result.ts';

/** One request to write zeroes is no longer than this, so that progress and aborts are not far away. */
const zeroChunk = 256 << 20;
/** The same of a copy below user space. */
const hostChunk = 16 << 20;

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
  const { sparse = defaultSparse, targetIsZero = false, signal } = options;
  checkSparse(sparse);
  signal?.throwIfAborted();
  const { size } = source;
  checkFits(size, source, target);
  const cut = geometry([source, target], options, { op: 'convert', size });
  const cursor = new ExtentCursor(source, signal);
  const result = emptyResult(size);
  const offload = options.copyRange ? createOffload(target) : undefined;
  const progress = new ProgressCounter(size, options);
  const turns = options.outOfOrder ? undefined : new Turns();
  const copier = new Copier({
    ...{ source, target, geometry: cut, result, progress, sparse, targetIsZero, offload, turns, signal },
  });
  const plan = segments(cursor, {
    end: size,
    align: cut.align,
    chunk: cut.chunk,
    zeroChunk: targetIsZero && sparse !== 0 ? Number.MAX_SAFE_INTEGER : zeroChunk,
    hostChunk: offload ? hostChunk : 0,
  });
  try {
    await runLanes(plan, cut.lanes, (segment, lane, sequence) => copier.work(segment, lane, sequence));
  } finally {
    cut.release();
  }
  await target.flush({ signal });
  result.requests.blockStatus = cursor.asked;
  return result;
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
