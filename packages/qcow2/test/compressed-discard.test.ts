import { describe, expect, it } from 'vitest';
import { GatedFile, readBytes, turns } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;

describe('a cluster of the file whose compressed data was discarded', () => {
  it('is given no more of it while its storage is given back', async () => {
    const file = new GatedFile(new ImageBuilder().build());
    const node = await file.open();
    await node.write(0, new Uint8Array(cluster).fill(3), { compressed: true });
    await node.flush();
    await node.discard(0, cluster);
    let discards = 0;
    let go = () => {};
    file.gate = (op) => {
      if (op !== 'discard') return;
      discards++;
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    };
    await node.flush();
    await turns();
    await node.write(cluster, new Uint8Array(cluster).fill(4), { compressed: true });
    expect(discards).toBe(1);
    go();
    await turns();
    file.gate = () => {};
    expect(await readBytes(node, cluster, cluster)).toEqual(new Uint8Array(cluster).fill(4));
    await node.close();
  });
});
