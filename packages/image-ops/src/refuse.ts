import { BlockError, type BlockErrorCode, type BlockNode } from '@blockyard/core';

/** The error for an operation that cannot begin on this node. */
export function refuse(code: BlockErrorCode, op: string, node: BlockNode, why: string): BlockError {
  const details = { op, path: node.path || undefined, node: node.name, driver: node.driver };
  return new BlockError(code, `${op} ${node.path || node.driver}: ${why}`, details);
}

/** @throws BlockError before anything was changed. */
export function checkWritable(op: string, node: BlockNode): void {
  if (node.readOnly) {
    throw refuse(
      'ERR_READ_ONLY',
      op,
      node,
      'it was opened read-only and would be written; open it with readOnly: false',
    );
  }
  if (!node.supports.write)
    throw refuse('ERR_NOT_SUPPORTED', op, node, `the driver '${node.driver}' cannot write`);
}
