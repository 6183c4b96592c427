import type { BlockNode } from '@blockyard/core';
import { differences } from '../differences.ts';
import { locate, settleAll } from '../failure.ts';
import type { Geometry } from '../geometry.ts';
import type { ProgressCounter } from '../operation.ts';
import { readAt, writeAt, zeroAt } from '../requests.ts';
import type { Segment } from '../segments.ts';
import type { Slots } from '../slots.ts';
import type { Turns } from '../turns.ts';
import type { Offload } from './offload.ts';
import type { ConvertResult } from './result.ts';
import type { Salvage } from './salvage.ts';
import { type Run, sparseRuns } from './zero-runs.ts';

export interface CopierInit {
  source: BlockNode;
  target: BlockNode;
  geometry: Geometry;
  /** Buffers of a lane: a second one for what is behind the target. */
  perLane: 1 | 2;
  result: ConvertResult;
  progress: ProgressCounter;
  sparse: number;
  targetIsZero: boolean;
  offload: Offload | undefined;
  salvage: Salvage | undefined;
  /** To store compressed: cluster by cluster, so many at once. */
  compressed: { clusterSize: number; slots: Slots } | undefined;
  /** Undefined: writes in any order. */
  turns: Turns | undefined;
  signal: AbortSignal | undefined;
}

/** A segment's turn to write: waited for before its first write, passed on when all have begun. */
interface Turn {
  come(): Promise<void>;
  pass(): void;
}

/** Units in which a segment is compared, where the target has no clusters. */
const compareBytes = 64 << 10;

/** Does one segment at a time for each lane. Everything that it starts has settled when it returns. */
export class Copier {
  readonly #init: CopierInit;

  constructor(init: CopierInit) {
    this.#init = init;
  }

  async work(segment: Segment, lane: number, sequence: number): Promise<void> {
    const { signal } = this.#init;
    signal?.throwIfAborted();
    const turn = this.#turn(sequence);
    try {
      if (segment.behind === 'same') this.#leave(segment);
      else if (segment.zero) await this.#zero(segment, turn);
      else await this.#data(segment, lane, turn);
    } finally {
      // It must pass on even what never came to writing.
      await turn.come();
      turn.pass();
    }
  }

  #turn(sequence: number): Turn {
    const { turns } = this.#init;
    let [come, passed] = [false, false];
    return {
      async come() {
        if (!come) await turns?.wait(sequence);
        come = true;
      },
      pass() {
        if (!passed) turns?.pass(sequence);
        passed = true;
      },
    };
  }

  #leave({ length }: Segment): void {
    const { result, progress } = this.#init;
    result.bytesBacked += length;
    progress.add(length);
  }

  async #zero({ offset, length }: Segment, turn: Turn): Promise<void> {
    const { result, progress, targetIsZero, sparse } = this.#init;
    result.bytesZero += length;
    if (!targetIsZero || sparse === 0) {
      await turn.come();
      const work = this.#writeZeroes(offset, length);
      turn.pass();
      await work;
    }
    progress.add(length, length);
  }

  async #data(segment: Segment, lane: number, turn: Turn): Promise<void> {
    const { geometry, offload, result, progress, signal } = this.#init;
    const { host } = segment;
    const end = segment.offset + segment.length;
    let at = segment.offset;
    if (host && offload && !offload.useless) {
      await turn.come();
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
      const last = at + length === end;
      await this.#chunk(at, length, lane, segment.behind === 'unknown', last ? turn : { ...turn, pass() {} });
      at += length;
    }
  }

  async #chunk(offset: number, length: number, lane: number, compare: boolean, turn: Turn): Promise<void> {
    const { geometry, perLane, result, progress, sparse, target, signal } = this.#init;
    const [data, behind] = [0, 1].map((index) =>
      geometry.buffers[lane * perLane + index]?.subarray(0, length),
    ) as [Uint8Array, Uint8Array];
    const reads = [this.#read(offset, data)];
    if (compare) reads.push(readAt(target, offset, behind, signal));
    await settleAll(reads);
    result.bytesRead += length;
    let runs: Run[];
    if (compare) {
      const unit = geometry.align > 1 ? geometry.align : compareBytes;
      runs = differences(data, behind, offset, unit).flatMap((part) => {
        const bytes = data.subarray(part.start, part.start + part.length);
        return sparseRuns(bytes, offset + part.start, sparse, geometry.align).map((run) => ({
          ...run,
          start: part.start + run.start,
        }));
      });
    } else runs = sparseRuns(data, offset, sparse, geometry.align);
    await turn.come();
    const zero = await this.#store(offset, data, runs, turn);
    result.bytesBacked += length - runs.reduce((sum, run) => sum + run.length, 0);
    result.bytesZeroDetected += zero;
    progress.add(length, zero);
  }

  async #read(offset: number, into: Uint8Array): Promise<void> {
    const { source, result, salvage, signal } = this.#init;
    result.requests.read++;
    try {
      await source.read(offset, into, { signal });
    } catch (error) {
      if (!salvage) throw locate(error, source, 'read', offset, into.byteLength);
      await salvage.read(offset, into, error);
    }
  }

  /** Returns the bytes that are zero. */
  async #store(offset: number, data: Uint8Array, runs: readonly Run[], turn: Turn): Promise<number> {
    const { target, targetIsZero, compressed, result, signal } = this.#init;
    const writes: Promise<unknown>[] = [];
    let zero = 0;
    try {
      for (const run of runs) {
        if (run.zero) {
          zero += run.length;
          if (!targetIsZero) writes.push(this.#writeZeroes(offset + run.start, run.length));
          continue;
        }
        result.bytesWritten += run.length;
        const bytes =
          run.length === data.byteLength ? data : data.subarray(run.start, run.start + run.length);
        if (compressed) await this.#compress(offset + run.start, bytes, writes);
        else {
          result.requests.write++;
          writes.push(writeAt(target, offset + run.start, bytes, { signal }));
        }
      }
    } finally {
      turn.pass();
      await Promise.allSettled(writes);
    }
    await settleAll(writes);
    return zero;
  }

  async #compress(offset: number, bytes: Uint8Array, writes: Promise<unknown>[]): Promise<void> {
    const { target, compressed, result, signal } = this.#init;
    const { clusterSize, slots } = compressed as NonNullable<CopierInit['compressed']>;
    let failed = false;
    for (let at = 0; at < bytes.byteLength && !failed; at += clusterSize) {
      const wait = slots.take();
      if (wait) await wait;
      result.requests.write++;
      const cluster = bytes.subarray(at, at + clusterSize);
      const whole = cluster.byteLength === clusterSize || offset + at + cluster.byteLength === target.size;
      const work = writeAt(target, offset + at, cluster, { signal, compressed: whole }).finally(() =>
        slots.give(),
      );
      // It is awaited when all have begun; until then a failure is not unhandled.
      work.catch(() => (failed = true));
      writes.push(work);
    }
  }

  async #writeZeroes(offset: number, length: number): Promise<void> {
    const { target, result, sparse, signal } = this.#init;
    result.requests.writeZeroes++;
    await zeroAt(target, offset, length, { signal, mayUnmap: sparse !== 0 });
    result.bytesZeroWritten += length;
  }
}
