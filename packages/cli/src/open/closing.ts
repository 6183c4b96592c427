import type { BlockNode } from '@blockyard/core';

/** Gives a node to `work`, and closes it whatever happens. What cannot be written at the end is a failure, too. */
export async function closing<T>(node: BlockNode, work: (node: BlockNode) => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await work(node);
  } catch (error) {
    await node.close().catch(() => {});
    throw error;
  }
  await node.close();
  return result;
}
