import { describe, expect, it } from 'vitest';
import { GatedFile, readBytes, turns } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 512;
const perTable = 64 * cluster;

describe('an L2 table in the place of one that was given up', () => {
  it('has nothing of what that said', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: 4 * perTable });
    builder.data(0, new Uint8Array(cluster).fill(7));
    // Nobody else has the table, and the flag does not say so: it is copied all the same, and then free.
    builder.l1Entry(0, BigInt(builder.l2Offset(0)));
    const file = new GatedFile(builder.build());
    const node = await file.open();
    await readBytes(node, 0, cluster);
    await node.write(cluster, new Uint8Array(cluster).fill(1));
    await node.flush();
    await turns();
    await node.write(perTable + cluster, new Uint8Array(cluster).fill(2));
    expect(await readBytes(node, perTable, cluster)).toEqual(new Uint8Array(cluster));
    await node.close();
  });
});
