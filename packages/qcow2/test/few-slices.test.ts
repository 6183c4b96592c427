import { describe, expect, it } from 'vitest';
import { failure, GatedFile, readBytes } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 512;
const perTable = 64 * cluster;
const tables = 200;

describe('many requests at once, and a cache of few slices', () => {
  it('come to an end, and lose nothing', async () => {
    const builder = new ImageBuilder({ clusterBits: 9, size: tables * perTable });
    for (let i = 0; i < tables; i++) builder.data(i * perTable, new Uint8Array(cluster).fill(3));
    const file = new GatedFile(builder.build());
    const node = await file.open({ cacheSize: 1 });
    let requests = 0;
    // Who drives the others' slices out for ever never lets a timer run.
    file.gate = () => {
      if (++requests > 20_000) throw failure();
    };
    for (let round = 1; round <= 6; round++) {
      const work: Promise<unknown>[] = [];
      for (let i = 0; i < tables; i++) {
        const at = i * perTable + round * cluster;
        work.push(Promise.resolve(node.write(at, new Uint8Array(cluster).fill(i))));
        if (i % 3 === round % 3) work.push(Promise.resolve(node.writeZeroes(at + 20 * cluster, cluster)));
      }
      await Promise.all(work);
    }
    await node.close();
    const again = await file.open();
    for (let i = 0; i < tables; i++) {
      for (let round = 1; round <= 6; round++) {
        const bytes = await readBytes(again, i * perTable + round * cluster, cluster);
        expect(Buffer.compare(bytes, new Uint8Array(cluster).fill(i))).toBe(0);
      }
    }
    await again.close();
  });
});
