import type { BlockNode } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode } from './support/open.ts';

const cluster = 65536;
const last = 8191 * cluster;

const works: [string, (node: BlockNode) => unknown][] = [
  ['a discard', (node) => node.discard(last, cluster)],
  ['zeroes', (node) => node.writeZeroes(last, cluster)],
  ['zeroes of a part', (node) => node.writeZeroes(last + 512, 512)],
  ['a write', (node) => node.write(last, new Uint8Array(512))],
  ['a compressed write', (node) => node.write(last, new Uint8Array(cluster), { compressed: true })],
];

describe('an L2 table that the end of the file cuts short', () => {
  it.each(works)('is told of by %s where an entry is missing', async (_what, work) => {
    const builder = new ImageBuilder({ size: 8192 * cluster });
    builder.entry(0, 0n);
    // The table is the last thing in the file, which ends before its last entries.
    const image = builder.build();
    const file = new Uint8Array(image.length + 8183 * 8);
    file.set(image);
    new DataView(file.buffer).setBigUint64(builder.l1Offset, (1n << 63n) | BigInt(image.length));
    const node = await openNode(file, { readOnly: false, discard: 'unmap' });
    await expect((async () => work(node))()).rejects.toMatchObject({
      // The table's cluster is not counted: who allocates may be given it, and is stopped by that.
      code: expect.stringMatching(/^ERR_(IMAGE_TRUNCATED|CORRUPT)$/),
    });
    await node.close().catch(() => {});
  });
});
