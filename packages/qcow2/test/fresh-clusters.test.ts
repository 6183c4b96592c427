import { describe, expect, it } from 'vitest';
import { failure, GatedFile, readBytes } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;

/** Fills clusters, gives all of them up, and writes a part of each. */
async function reuse(file: GatedFile, meanwhile: () => void): Promise<void> {
  const node = await file.open();
  for (let i = 0; i < 8; i++) await node.write(i * cluster, new Uint8Array(cluster).fill(9));
  await node.flush();
  meanwhile();
  await node.features.makeEmpty?.().catch(() => {});
  file.gate = () => {};
  for (let i = 0; i < 8; i++) await node.write(i * cluster + 1024, new Uint8Array(512).fill(1));
  for (let i = 0; i < 8; i++) expect(await readBytes(node, i * cluster, 1024)).toEqual(new Uint8Array(1024));
  await node.close();
}

describe('clusters that were given up show nothing of what was in them', () => {
  it('in a file of a fixed size', async () => {
    const device = new Uint8Array(4 << 20);
    device.set(new ImageBuilder().build());
    await reuse(new GatedFile(device, { resize: false, discard: false }), () => {});
  });

  it('in a file that could not be made shorter', async () => {
    const file = new GatedFile(new ImageBuilder().build(), { discard: false });
    await reuse(file, () => {
      file.gate = (op) => {
        if (op === 'truncate') throw failure();
      };
    });
  });
});
