import type { BlockNode } from './block-node.ts';
import type { BlockDriver, Location, OpenContext } from './driver.ts';
import type { Memory } from './memory.ts';
import type { Supports } from './supports.ts';

export type Operation =
  | 'read'
  | 'write'
  | 'writeZeroes'
  | 'discard'
  | 'flush'
  | 'blockStatus'
  | 'truncate'
  | 'copyRange';

/** One request, as published on the `blockyard:request` diagnostics channel when it starts. */
export interface RequestEvent {
  node: BlockNode;
  op: Operation;
  offset: number;
  length: number;
}

export interface NodeInit {
  driver: Pick<BlockDriver, 'name' | 'kind'>;
  context: Pick<OpenContext, 'common' | 'path'>;
  supports: Supports;
  /** By role: 'file', 'backing', 'data-file'. They are closed with this node. */
  children?: Readonly<Record<string, BlockNode>>;
  /** Protocol drivers: memory that reaches their device without a copy. Others use their file's. */
  memory?: Memory;
  /** Protocol drivers: file name, device or URL, for messages. */
  path?: string;
  /** Protocol drivers: where the bytes are, to resolve and compare names found inside images. */
  location?: Location;
}
