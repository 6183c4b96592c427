import type { IoData } from '@blockyard/iov-utils';
import type { BlockLimits } from '../limits.ts';
import type { Memory } from '../memory.ts';
import type { NodeStats } from '../stats.ts';
import type { MaybePromise, ReadOptions, WriteOptions, ZeroOptions } from './options.ts';

/** What the pipeline's stages need of a node: its limits, and its driver behind them. */
export interface Target {
  readonly limits: BlockLimits;
  readonly memory: Memory;
  readonly stats: NodeStats;
  readonly size: number;
  /** Only a node whose requests reach the kernel cares where memory lies. */
  readonly memoryMatters: boolean;
  readDriver(offset: number, into: IoData, options: ReadOptions): MaybePromise<void>;
  writeDriver(offset: number, from: IoData, options: WriteOptions): MaybePromise<void>;
  writeZeroesDriver(offset: number, length: number, options: ZeroOptions): MaybePromise<void>;
}
