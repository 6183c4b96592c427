import { describe, expect, it } from 'vitest';
import { failure, GatedFile } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;

describe('while nobody knows which header is in the file', () => {
  it('a write that waited changes nothing', async () => {
    const builder = new ImageBuilder();
    const place = builder.data(0, new Uint8Array(cluster).fill(7));
    const file = new GatedFile(builder.build());
    const node = await file.open();
    let late: Promise<unknown> | undefined;
    file.gate = (op, offset) => {
      if (op !== 'write') return;
      late ??= (async () => node.write(0, new Uint8Array(512).fill(9)))().catch((error: unknown) => error);
      if (offset === 0) throw failure();
    };
    await expect((async () => node.features.snapshots?.create('a'))()).rejects.toThrow('made to fail');
    expect(String(await late)).toContain('made to fail');
    expect(file.bytes[place]).toBe(7);
    // It goes on when the old header could be put back.
    file.gate = () => {};
    await node.write(0, new Uint8Array(512).fill(9));
    await node.close();
  });
});
