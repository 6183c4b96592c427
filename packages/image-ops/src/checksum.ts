import type { BlockNode } from '@blockyard/core';
import { createSha256 } from '#platform';
import { Breath } from './breath.ts';
import { type OperationOptions, ProgressCounter } from './operation.ts';
import { readInOrder } from './read-in-order.ts';

export interface Checksum {
  algorithm: 'sha256';
  /** Hexadecimal. */
  digest: string;
  /** Bytes hashed: the size of the disk. */
  size: number;
  /** Of these, hashed as zeroes without a read. */
  bytesZero: number;
}

const zeroBytes = 1 << 20;

/**
 * SHA-256 of what a guest sees. Holes are not read, but the digest of zeroes is work too: it is spent from one small
 * buffer at the speed of the hash, and shows as progress.
 */
export async function checksum(node: BlockNode, options: OperationOptions = {}): Promise<Checksum> {
  const { signal } = options;
  const { size } = node;
  const hash = createSha256();
  const progress = new ProgressCounter(size, options);
  const breath = new Breath();
  let zeroes: Uint8Array | undefined;
  let bytesZero = 0;
  for await (const { length, data } of readInOrder(node, options, 'checksum')) {
    if (data) {
      hash.update(data);
      progress.add(length);
      continue;
    }
    zeroes ??= new Uint8Array(zeroBytes);
    for (let done = 0; done < length; ) {
      const part = Math.min(zeroBytes, length - done);
      hash.update(part === zeroBytes ? zeroes : zeroes.subarray(0, part));
      done += part;
      bytesZero += part;
      progress.add(part, part);
      const pause = breath.take();
      if (pause) await pause;
      signal?.throwIfAborted();
    }
  }
  return { algorithm: 'sha256', digest: hash.digest(), size, bytesZero };
}
