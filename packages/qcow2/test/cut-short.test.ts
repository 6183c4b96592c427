import { describe, expect, it } from 'vitest';
import { GatedFile } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;

describe('a file that ends within a refcount block', () => {
  it('is made longer when what is there is counted anew', async () => {
    const builder = new ImageBuilder();
    builder.data(0, new Uint8Array(cluster).fill(7));
    const image = builder.build();
    const file = new GatedFile(image.slice(0, image.length - cluster + 1024));
    const node = await file.open();
    await node.discard(0, cluster);
    await node.flush();
    await node.close();
    expect(file.bytes.length % cluster).toBe(0);
  });
});
