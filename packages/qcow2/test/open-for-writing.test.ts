import { describe, expect, it } from 'vitest';
import { parseHeader } from '../src/index.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode } from './support/open.ts';

const writable = { readOnly: false };

describe('an image that is opened for writing', () => {
  it('is refused while it is marked corrupt', async () => {
    const image = new ImageBuilder({ incompatible: 2n }).build();
    await expect(openNode(image, writable)).rejects.toMatchObject({
      code: 'ERR_CORRUPT',
      message: expect.stringContaining('check -r all'),
    });
  });

  it('is refused at a snapshot', async () => {
    const image = new ImageBuilder().snapshot('1', 'old').build();
    await expect(openNode(image, { ...writable, snapshot: 'old' })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    });
  });

  it('is repaired when it was not closed', async () => {
    const builder = new ImageBuilder({ incompatible: 1n, compatible: 1n });
    builder.data(0, new Uint8Array(65536).fill(7));
    const image = builder.build();
    await (await openNode(image, writable)).close();
    expect(parseHeader(image.subarray(0, 65536))).toMatchObject({ dirty: false, lazyRefcounts: true });
  });

  it('loses the autoclear bits that are not known here, and no others', async () => {
    const image = new ImageBuilder({ autoclear: 1n << 40n }).build();
    await (await openNode(image, writable)).close();
    expect(parseHeader(image.subarray(0, 65536)).autoclearFeatures).toBe(0n);
  });

  it('is not written over its own tables, and is marked corrupt when an entry leads there', async () => {
    const builder = new ImageBuilder();
    builder.data(0, new Uint8Array(65536).fill(7));
    // The second cluster of the disk is said to be where the L1 table is.
    builder.entry(65536, (1n << 63n) | BigInt(builder.l1Offset));
    const image = builder.build();
    const before = image.slice(builder.l1Offset, builder.l1Offset + 65536);
    const node = await openNode(image, writable);
    await expect((async () => node.write(65536, new Uint8Array(512).fill(1)))()).rejects.toMatchObject({
      code: 'ERR_CORRUPT',
    });
    await expect((async () => node.write(0, new Uint8Array(512)))()).rejects.toMatchObject({
      code: 'ERR_CORRUPT',
    });
    await node.close().catch(() => {});
    expect(Buffer.compare(image.subarray(builder.l1Offset, builder.l1Offset + 65536), before)).toBe(0);
    expect(parseHeader(image.subarray(0, 65536)).corrupt).toBe(true);
  });
});
