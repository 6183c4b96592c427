import { BlockError, type BlockNode } from '@blockyard/core';
import type { Terminal } from '../terminal.ts';
import { inOurWords } from '../words.ts';

const refused = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ERR_NOT_SUPPORTED'];

/** Opens with direct I/O where asked for; where a file system refuses it, through the page cache and with a notice. */
export async function openDirect(
  direct: boolean,
  terminal: Terminal,
  open: (direct: boolean) => Promise<BlockNode>,
): Promise<BlockNode> {
  try {
    return await open(direct);
  } catch (error) {
    if (!direct || !(error instanceof BlockError) || !refused.includes(error.code)) throw error;
    let node: BlockNode;
    try {
      node = await open(false);
    } catch {
      // Direct I/O was not what was wrong.
      throw error;
    }
    terminal.notice(`direct I/O cannot be had, using the page cache instead: ${inOurWords(error.message)}`);
    return node;
  }
}
