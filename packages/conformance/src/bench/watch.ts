import type { BlockNode, WriteOptions, ZeroOptions } from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';
import { rangeFault, transferFault } from './legal.ts';

export interface Call {
  op: string;
  offset: number;
  length: number;
  fua: boolean;
  /** Against the node's limits or the contract, or undefined. */
  fault: string | undefined;
}

type Hidden = Record<string, (...args: never[]) => unknown>;

/** Puts an ear between the base class and the driver: every request that reaches the driver is recorded. */
export function watch(node: BlockNode): Call[] {
  const calls: Call[] = [];
  const driver = node as unknown as Hidden;
  const listen = (method: string, hear: (...args: never[]) => Call) => {
    const original = driver[method] as (...args: never[]) => unknown;
    driver[method] = function (this: unknown, ...args: never[]) {
      calls.push(hear(...args));
      return original.apply(this, args);
    };
  };
  const { limits } = node;
  const unmap = node.common.discard === 'unmap';
  const flags = ({ fua, mayUnmap }: ZeroOptions = {}): string | undefined =>
    fua && !node.supports.fua
      ? 'fua, which the driver does not take'
      : mayUnmap && !unmap
        ? 'mayUnmap, without discard: unmap'
        : undefined;
  listen('_read', (offset: number, data: IoData) => ({
    op: 'read',
    offset,
    length: byteLength(data),
    fua: false,
    fault: transferFault(node, offset, data),
  }));
  listen('_write', (offset: number, data: IoData, options: WriteOptions = {}) => ({
    op: 'write',
    offset,
    length: byteLength(data),
    fua: options.fua ?? false,
    fault: transferFault(node, offset, data) ?? flags(options),
  }));
  listen('_writeZeroes', (offset: number, length: number, options: ZeroOptions = {}) => ({
    op: 'writeZeroes',
    offset,
    length,
    fua: options.fua ?? false,
    fault:
      rangeFault(node, offset, length, limits.pwriteZeroesAlignment, limits.maxPwriteZeroes) ??
      flags(options),
  }));
  listen('_discard', (offset: number, length: number) => ({
    op: 'discard',
    offset,
    length,
    fua: false,
    fault:
      rangeFault(node, offset, length, limits.pdiscardAlignment, limits.maxPdiscard) ??
      (unmap ? undefined : 'without discard: unmap'),
  }));
  listen('_flush', () => ({ op: 'flush', offset: 0, length: 0, fua: false, fault: undefined }));
  return calls;
}
