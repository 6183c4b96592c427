import { type BlockDriver, createRegistry, memory } from '@blockyard/core';
import { expect, it } from 'vitest';
import { qcow2 } from '../src/index.ts';
import { GatedFile } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory } from './support/open.ts';

it('a raw data file that is too short becomes as long as the disk, and no longer', async () => {
  const size = 3 << 19;
  const image = new ImageBuilder({ size, dataFile: 'x', autoclear: 2n }).build();
  const data = new GatedFile(new Uint8Array(1 << 20));
  const registry = createRegistry([memory(), data.driver, qcow2()] as unknown as BlockDriver[]);
  const dataFile = { driver: 'gated' };
  const node = await registry.openNode({
    driver: 'qcow2',
    readOnly: false,
    file: inMemory(image),
    dataFile,
  });
  await node.write(1_200_000, new Uint8Array(512).fill(1));
  await node.close();
  expect(data.bytes.length).toBe(size);
  expect(data.bytes[1_200_000]).toBe(1);
});
