import { BlockError, type BlockNode } from '@blockyard/core';

/** Gives an error from below the place on the disk: a driver may only know the place in its file. */
export function locate(error: unknown, node: BlockNode, op: string, offset: number, length: number): unknown {
  if (!(error instanceof BlockError) || error.node === node.name) return error;
  const same =
    error.op === op && error.offset !== undefined && error.offset >= offset && error.offset < offset + length;
  if (same && node.driver === 'raw') return error;
  const text = `${op} of ${length} bytes at ${offset}: ${error.message}`;
  const details = { driver: node.driver, node: node.name, path: node.path || undefined, op, offset, length };
  return new BlockError(error.code, text, { ...details, cause: error });
}

/** Awaits all, and only then throws the first failure: memory in use is never given back early. */
export async function settleAll(work: readonly PromiseLike<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
