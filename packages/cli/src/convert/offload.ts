import { statfs } from 'node:fs/promises';
import { type BlockNode, protocolNode } from '@blockyard/core';

/** File systems that share blocks between files instead of copying them, by the number that statfs gives. */
const sharing = new Set([
  0x9123683e, // btrfs
  0x58465342, // xfs
  0xca451a4e, // bcachefs
  0x7461636f, // ocfs2
]);

/**
 * Whether to try copies below user space when the command line does not say. Only where they are likely to share blocks:
 * elsewhere the kernel copies through the page cache, slower than we do, and zeroes are not found.
 */
export async function shouldOffload(source: BlockNode, target: BlockNode, sparse: number): Promise<boolean> {
  const [from, to] = [protocolNode(source), protocolNode(target)];
  if (sparse === 0 || from.driver !== 'file' || to.driver !== 'file' || !to.supports.copyRange) return false;
  try {
    const [a, b] = await Promise.all([statfs(from.path), statfs(to.path)]);
    return a.type === b.type && sharing.has(a.type);
  } catch {
    return false;
  }
}
