import { describe, expect, it } from 'vitest';
import { GatedFile, readBytes, turns } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;
const subcluster = cluster / 32;

describe('a write that goes on from a subcluster with data into one without', () => {
  it.each([
    { first: 1, start: subcluster / 2, other: 0 },
    { first: 2, start: subcluster / 2, other: 2 * subcluster - 512 },
  ])('takes nothing back of a write beside it (data in mask $first)', async ({ first, start, other }) => {
    const builder = new ImageBuilder({ extendedL2: true });
    builder.subclusters(0, new Uint8Array(cluster).fill(5), first, 0);
    const file = new GatedFile(builder.build());
    const node = await file.open();
    await readBytes(node, 0, 512);
    let go = () => {};
    file.gate = (op, _offset, length) => {
      if (op !== 'write' || length === 512) return;
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    };
    const writing = Promise.resolve(node.write(start, new Uint8Array(subcluster).fill(6)));
    await turns();
    await node.write(other, new Uint8Array(512).fill(8));
    go();
    await writing;
    expect(await readBytes(node, other, 512)).toEqual(new Uint8Array(512).fill(8));
    expect(await readBytes(node, start, subcluster)).toEqual(new Uint8Array(subcluster).fill(6));
    file.gate = () => {};
    await node.close();
  });
});
