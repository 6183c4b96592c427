import type { BlockDriver, BlockNode, CheckResult, NodeOptions } from '@blockyard/core';
import type { Machine } from '../machine/machine.ts';

/** How a named file is opened: on the machine that records, or from memory after a power cut. */
export type Below = (file: string) => NodeOptions;

/** A kind of disk that can be put to the test. */
export interface Subject {
  /** In few words, to repeat it by hand. */
  readonly name: string;
  readonly drivers: readonly BlockDriver[];
  /** The file whose metadata is checked. */
  readonly image: string;
  readonly clusterSize: number;
  readonly size: number;
  /** What may show where the disk holds nothing: zero beyond its end. */
  readonly backing: Uint8Array;
  /** Whether the format may refuse it, for a reason of its own. */
  mayRefuse(operation: 'snapshot' | 'resize' | 'compressed', snapshots: number): boolean;
  /** Makes the files, empty of data. */
  make(machine: Machine): Promise<void>;
  tree(below: Below, options?: Record<string, unknown>): NodeOptions;
  /** Names of the internal snapshots. */
  snapshots?(file: BlockNode): Promise<string[]>;
  check?(file: BlockNode, repair?: 'leaks' | 'all'): Promise<CheckResult>;
}
