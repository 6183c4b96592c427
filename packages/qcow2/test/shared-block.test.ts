import { expect, it } from 'vitest';
import { Damage } from './support/damage.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode, readAll } from './support/open.ts';

it('an image that counts all its clusters in one block, over and over, is not searched for a free one', async () => {
  const builder = new ImageBuilder({ refcountOrder: 0 });
  builder.data(0, new Uint8Array(65536).fill(7));
  const image = new Damage(builder.build());
  const block = image.view.getBigUint64(image.refcountTable);
  image.bytes.fill(0xff, Number(block), Number(block) + 65536);
  for (let at = 0; at < 65536; at += 8) image.view.setBigUint64(image.refcountTable + at, block);
  const opening = openNode(image.bytes, { readOnly: false });
  await expect(opening).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
  expect((await readAll(image.bytes))[0]).toBe(7);
});
