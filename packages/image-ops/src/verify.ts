import { BlockError, type BlockNode } from '@blockyard/core';
import { compare } from './compare.ts';
import type { OperationOptions } from './operation.ts';

/**
 * Compares a copy with what it was made from. Open the copy anew and past the page cache for it, or it is the cache
 * that is verified.
 * @throws BlockError ERR_VERIFY with the first byte that differs.
 */
export async function verify(
  source: BlockNode,
  copy: BlockNode,
  options: OperationOptions = {},
): Promise<void> {
  const { size } = source;
  if (copy.size < size) throw failed(copy, undefined, `it has ${copy.size} bytes and the source ${size}`);
  const { offset } = await compare(source, copy, { ...options, length: size });
  if (offset !== undefined)
    throw failed(copy, offset, `byte ${offset} differs from ${source.path || 'the source'}`);
}

function failed(copy: BlockNode, offset: number | undefined, why: string): BlockError {
  const text = `verify ${copy.path || 'the copy'}: ${why}; do not use this copy, and check the storage that it is on`;
  return new BlockError('ERR_VERIFY', text, {
    op: 'verify',
    path: copy.path || undefined,
    offset,
    driver: copy.driver,
  });
}
