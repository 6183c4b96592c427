import type { BlockNode } from './block-node.ts';
import type { BlockDriver } from './driver.ts';
import { BlockError } from './errors.ts';
import { foreignFormat } from './foreign.ts';

/** Bytes at the start of an image that probing looks at. */
export const probeBytes = 4096;

/** The first bytes of a node. */
export async function readHead(node: BlockNode): Promise<Uint8Array> {
  const head = new Uint8Array(Math.min(probeBytes, node.size));
  await node.read(0, head);
  return head;
}

/** The format driver that is surest of these bytes; undefined means raw. */
export function probeHead(head: Uint8Array, drivers: Iterable<BlockDriver>): BlockDriver | undefined {
  let best: { driver: BlockDriver; score: number } | undefined;
  for (const driver of drivers) {
    const score = driver.kind === 'format' ? (driver.probe?.(head) ?? 0) : 0;
    if (score > (best?.score ?? 0)) best = { driver, score };
  }
  return best?.driver;
}

/**
 * The name of the format that the image in `file` seems to have, 'raw' when it looks like no other.
 * @throws BlockError ERR_UNSUPPORTED_FEATURE when it is recognised and no driver for it is registered.
 */
export async function probeFormat(file: BlockNode, drivers: Iterable<BlockDriver>): Promise<string> {
  const head = await readHead(file);
  const found = probeHead(head, drivers);
  if (found) return found.name;
  const foreign = foreignFormat(head);
  if (foreign === undefined) return 'raw';
  throw new BlockError(
    'ERR_UNSUPPORTED_FEATURE',
    `open ${file.path}: this is a ${foreign}, which no registered driver reads; unpack or convert it first, or give the format raw to use its bytes as they are`,
    { op: 'open', path: file.path, driver: file.driver },
  );
}
