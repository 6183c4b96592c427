import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deflate, field, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, registry } from './support/open.ts';

const small = 4096;

function plain(options: object): { image: Uint8Array; tables: number[] } {
  const builder = new ImageBuilder({ clusterBits: 12, size: 600 * small, ...options });
  for (let i = 0; i < 20; i += 3) builder.data(i * small, pattern(small, i));
  builder.snapshot('1', 'one');
  builder.data(0, pattern(small, 77));
  builder.compressed(30 * small, deflate(new Uint8Array(small).fill(3)));
  builder.compressed(31 * small, deflate(pattern(small, 3)));
  builder.bitmap('b');
  const image = builder.build();
  const tables = [
    builder.l1Offset,
    builder.l2Offset(0),
    builder.refcountTableOffset,
    builder.snapshotsOffset,
    builder.bitmapDirectoryOffset,
  ];
  return { image, tables };
}

function extended(): { image: Uint8Array; tables: number[] } {
  const size = 16384;
  const builder = new ImageBuilder({ clusterBits: 14, size: 100 * size, extendedL2: true });
  for (let i = 0; i < 10; i++) builder.subclusters(i * size, pattern(size, i), 0x0f0f0f0f << (i % 4), 0);
  const image = builder.build();
  return { image, tables: [builder.l1Offset, builder.l2Offset(0), builder.refcountTableOffset] };
}

const images = [plain({}), plain({ version: 2 }), plain({ refcountOrder: 6, compatible: 1n }), extended()];

const numbers = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(
    0n,
    1n,
    2n ** 31n,
    2n ** 32n - 1n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 62n,
    2n ** 63n,
    2n ** 64n - 1n,
    2n ** 64n - 2n,
  ),
  fc.bigInt({ min: 0n, max: 600n }).map((clusters) => clusters * 4096n),
  fc.bigInt({ min: 0n, max: 600n }).map((clusters) => (clusters * 4096n) | (1n << 63n)),
  fc.bigInt({ min: 0n, max: 1n << 22n }).map((at) => at | (1n << 62n)),
);

const change = fc.record({
  where: fc.oneof(
    fc.constantFrom(...Object.values(field)).map((at) => ({ table: -1, at: at as number })),
    fc.record({ table: fc.nat(4), at: fc.nat(300) }),
    fc.record({ table: fc.constant(-1), at: fc.nat(250) }),
  ),
  size: fc.constantFrom(1, 2, 4, 8),
  value: numbers,
});

const scenario = fc.record({
  base: fc.nat(images.length - 1),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 6, nil: undefined }),
  snapshot: fc.constantFrom(undefined, undefined, '1'),
});

/** Only errors of ours may come out of an image, whatever is in it. */
async function survives(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if ((error as Error).name !== 'BlockError') throw error;
    expect(String((error as Error).message)).toMatch(/\w/);
  }
}

it('survives whatever is in the header and the tables', { timeout: 60_000 }, async () => {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async ({ base, changes, cut, snapshot }) => {
      const { image, tables } = images[base] as (typeof images)[number];
      let data = image.slice();
      const view = new DataView(data.buffer);
      for (const { where, size, value } of changes) {
        const at = where.table < 0 ? where.at : (tables[where.table % tables.length] as number) + where.at;
        if (at + size > data.length) continue;
        if (size === 8) view.setBigUint64(at, value);
        else if (size === 4) view.setUint32(at, Number(BigInt.asUintN(32, value)));
        else if (size === 2) view.setUint16(at, Number(BigInt.asUintN(16, value)));
        else view.setUint8(at, Number(BigInt.asUintN(8, value)));
      }
      if (cut !== undefined) data = data.slice(0, Math.floor(data.length * cut));
      await survives(() => registry.inspect({ driver: 'qcow2', file: inMemory(data) }));
      await survives(async () => {
        const options = snapshot === undefined ? {} : { snapshot };
        const node = await registry.openNode({
          driver: 'qcow2',
          readOnly: true,
          file: inMemory(data),
          backing: null,
          ...options,
        });
        try {
          for (let at = 0, steps = 0; at < node.size && steps < 50; steps++) {
            let length = 512;
            await survives(async () => {
              const extent = await node.blockStatus(at, node.size - at);
              expect(extent.offset).toBe(at);
              expect(extent.length).toBeGreaterThan(0);
              expect(extent.length).toBeLessThanOrEqual(node.size - at);
              length = extent.length;
            });
            const into = new Uint8Array(Math.min(node.size - at, 10_000));
            await survives(() => node.read(at, into));
            at += length;
          }
          await survives(() => node.read(0, new Uint8Array(Math.min(node.size, 1 << 20))));
        } finally {
          await node.close();
        }
      });
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 700) },
  );
  expect(most).toBeLessThan(512 << 20);
});
