import type { BlockNode } from '@blockyard/core';
import { locate, settleAll } from '../failure.ts';
import type { Geometry } from '../geometry.ts';
import type { ProgressCounter } from '../operation.ts';
import type { Segment } from '../segments.ts';
import type { Turns } from '../turns.ts';
import type { Offload } from './offload.ts';
import type { ConvertResult } from './result.ts';
import { sparseRuns } from './zero-runs.ts';

export interface CopierInit {
  source: BlockNode;
  target: BlockNode;
  geometry: Geometry;
  result: ConvertResult;
  progress: ProgressCounter;
  sparse: number;
  targetIsZero: boolean;
  offload: Offload | undefined;
  /** Undefined: writes in any order. */
  turns: Turns | undefined;
  signal: AbortSignal | undefined;
}

/** Does one segment at a time for each lane. Everything that it starts has settled when it returns. */
export class Copier {
  readonly #init: CopierInit;

  constructor(init: CopierInit) {
    this.#init = init;
  }

  async work(segment: Segment, lane: number, sequence: number): Promise<void> {
    const { turns, signal } = this.#init;
    signal?.throwIfAborted();
    const turn = { taken: false };
    // The turn comes when the segment is ready to be written, and must pass even when it never is.
    const inTurn = async () => {
      if (!turn.taken) await turns?.wait(sequence);
      turn.taken = true;
    };
    let passed = false;
    const pass = () => {
      if (!passed) turns?.pass(sequence);
      passed = true;
    };
    try {
      if (segment.zero) await this.#zero(segment, inTurn, pass);
      else await this.#data(segment, lane, inTurn, pass);
    } finally {
      await inTurn();
      pass();
    }
  }

  async #zero({ offset, length }: Segment, inTurn: () => Promise<void>, pass: () => void): Promise<void> {
    const { result, progress, targetIsZero, sparse } = this.#init;
    result.bytesZero += length;
    if (!targetIsZero || sparse === 0) {
      await inTurn();
      const work = this.#writeZeroes(offset, length);
      pass();
      await work;
    }
    progress.add(length, length);
  }

  async #data(segment: Segment, lane: number, inTurn: () => Promise<void>, pass: () => void): Promise<void> {
    const { geometry, offload, result, progress, signal } = this.#init;
    const { host } = segment;
    const end = segment.offset + segment.length;
    let at = segment.offset;
    if (host && offload && !offload.useless) {
      await inTurn();
      while (at < end) {
        result.requests.copyRange++;
        const copied = await offload.copy(host.node, host.offset + at - segment.offset, at, end - at, signal);
        if (copied <= 0) break;
        result.bytesOffloaded += copied;
        progress.add(copied);
        at += copied;
      }
    }
    while (at < end) {
      const length = Math.min(geometry.chunk, end - at);
      await this.#chunk(at, length, lane, inTurn, at + length === end ? pass : () => {});
      at += length;
    }
  }

  async #chunk(
    offset: number,
    length: number,
    lane: number,
    inTurn: () => Promise<void>,
    pass: () => void,
  ): Promise<void> {
    const { source, target, geometry, result, progress, sparse, targetIsZero, signal } = this.#init;
    const data = (geometry.buffers[lane] as Uint8Array).subarray(0, length);
    result.requests.read++;
    try {
      await source.read(offset, data, { signal });
    } catch (error) {
      throw locate(error, source, 'read', offset, length);
    }
    result.bytesRead += length;
    const runs = sparseRuns(data, offset, sparse, geometry.align);
    await inTurn();
    const writes: PromiseLike<unknown>[] = [];
    let zero = 0;
    for (const run of runs) {
      if (run.zero) {
        zero += run.length;
        if (!targetIsZero) writes.push(this.#writeZeroes(offset + run.start, run.length));
        continue;
      }
      result.requests.write++;
      result.bytesWritten += run.length;
      const bytes = run.length === length ? data : data.subarray(run.start, run.start + run.length);
      writes.push(write(target, offset + run.start, bytes, signal));
    }
    pass();
    await settleAll(writes);
    result.bytesZeroDetected += zero;
    progress.add(length, zero);
  }

  async #writeZeroes(offset: number, length: number): Promise<void> {
    const { target, result, sparse, signal } = this.#init;
    result.requests.writeZeroes++;
    try {
      await target.writeZeroes(offset, length, { signal, mayUnmap: sparse !== 0 });
    } catch (error) {
      throw locate(error, target, 'writeZeroes', offset, length);
    }
    result.bytesZeroWritten += length;
  }
}

async function write(
  target: BlockNode,
  offset: number,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await target.write(offset, bytes, { signal });
  } catch (error) {
    throw locate(error, target, 'write', offset, bytes.byteLength);
  }
}
