import { alignUp, type BlockNode } from '@blockyard/core';
import { byteLength, type IoData } from '@blockyard/iov-utils';

const over = (value: number, limit: number): boolean => limit !== 0 && value > limit;

/** What is wrong with a read or write that reaches a driver, or undefined. */
export function transferFault(node: BlockNode, offset: number, data: IoData): string | undefined {
  const { requestAlignment, maxTransfer, maxHwTransfer, maxIov, maxHwIov, minMemAlignment } = node.limits;
  const length = byteLength(data);
  if (length === 0) return 'it has no bytes';
  if (offset % requestAlignment !== 0 || length % requestAlignment !== 0)
    return `it is not aligned to ${requestAlignment}`;
  if (offset + length > alignUp(node.size, requestAlignment))
    return `it ends beyond the ${node.size} bytes of the node`;
  if (over(length, maxTransfer) || over(length, maxHwTransfer))
    return `it is longer than ${maxTransfer || maxHwTransfer} bytes`;
  if (Array.isArray(data)) {
    if (data.length < 2) return `it is a vector of ${data.length}`;
    if (over(data.length, maxIov) || over(data.length, maxHwIov))
      return `it is a vector of ${data.length} buffers`;
  }
  if (node.kind === 'protocol' && !node.memory.isAligned(data, minMemAlignment)) {
    return `its memory is not aligned to ${minMemAlignment}`;
  }
  return undefined;
}

/** The same for a range without bytes: write-zeroes and discard. */
export function rangeFault(
  node: BlockNode,
  offset: number,
  length: number,
  alignment: number,
  limit: number,
): string | undefined {
  const step = Math.max(node.limits.requestAlignment, alignment);
  if (length <= 0) return 'it has no bytes';
  if (offset % step !== 0) return `it does not begin at a multiple of ${step}`;
  const tail = offset + length >= node.size;
  if (length % step !== 0 && !tail) return `it does not end at a multiple of ${step}`;
  if (offset + length > alignUp(node.size, node.limits.requestAlignment)) return 'it ends beyond the node';
  if (over(length, Math.max(limit, limit && step))) return `it is longer than ${limit} bytes`;
  return undefined;
}
