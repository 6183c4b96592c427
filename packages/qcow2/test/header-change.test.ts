import { describe, expect, it } from 'vitest';
import { parseHeader } from '../src/index.ts';
import { GatedFile, turns } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

/** Holds the flush after the first write of the header until `meanwhile` has had its time. */
function holdHeader(file: GatedFile, meanwhile: () => unknown): { held: boolean } {
  const seen = { held: false };
  let written = false;
  file.gate = async (op, offset) => {
    if (op === 'write' && offset === 0) written = true;
    if (op !== 'flush' || !written || seen.held) return;
    seen.held = true;
    void meanwhile();
    await turns();
  };
  return seen;
}

describe('while the header is being changed', () => {
  it('a flush does not put the old one back', async () => {
    const builder = new ImageBuilder();
    builder.data(0, new Uint8Array(65536).fill(7));
    const file = new GatedFile(builder.build());
    const node = await file.open();
    let flushing: unknown;
    holdHeader(file, () => {
      flushing = node.flush();
    });
    await node.features.snapshots?.create('a');
    await flushing;
    expect(parseHeader(file.bytes.subarray(0, 65536)).snapshotCount).toBe(1);
    await node.close();
  });

  it('nor does a write, when the refcount table grows', async () => {
    const size = 8 << 20;
    const builder = new ImageBuilder({ clusterBits: 9, refcountOrder: 6, size });
    builder.data(0, new Uint8Array(512).fill(7));
    const file = new GatedFile(builder.build());
    const node = await file.open();
    const before = parseHeader(file.bytes.subarray(0, 512)).refcountTableOffset;
    let writing: unknown;
    const seen = holdHeader(file, () => {
      writing = node.write(0, new Uint8Array(512).fill(9));
    });
    // 64 entries of 64 clusters each.
    const most = 64 * 64 * 512;
    for (let at = 512; at < most && !seen.held; at += 65536)
      await node.write(at, new Uint8Array(65536).fill(1));
    await writing;
    expect(seen.held).toBe(true);
    expect(parseHeader(file.bytes.subarray(0, 512)).refcountTableOffset).not.toBe(before);
    await node.close();
  });
});
