import { describe, expect, it } from 'vitest';
import { Damage } from './support/damage.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode } from './support/open.ts';

describe('a snapshot that says it has an L1 table larger than any', () => {
  it('is told of when what it leads to is to be kept from being overwritten', async () => {
    const builder = new ImageBuilder();
    builder.data(0, new Uint8Array(65536).fill(7));
    const image = new Damage(builder.snapshot('1', 'a').build());
    image.view.setUint32(image.snapshots + 8, 0xffffffff);
    await expect(openNode(image.bytes, { readOnly: false, overlapCheck: 'all' })).rejects.toMatchObject({
      code: 'ERR_INVALID_IMAGE',
    });
  });
});
