import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interop, joined, type MapEntry, Workspace } from './qemu.ts';

const kib = 8192;

const operation = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'zero', 'unmap', 'discard', 'compress'),
  at: fc.nat(kib - 1),
  length: fc.integer({ min: 1, max: 700 }),
  seed: fc.integer({ min: 1, max: 255 }),
});

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const layer = fc.record({
  cluster: fc.constantFrom('512', '1k', '4k', '16k', '64k', '1M'),
  extended: fc.boolean(),
  type: fc.constantFrom('zlib', 'zstd'),
  preallocated: fc.boolean(),
  size: fc.integer({ min: 100, max: kib }),
  operations: fc.array(operation, { minLength: 1, maxLength: 12 }),
});

type Layer = typeof layer extends fc.Arbitrary<infer T> ? T : never;

const bytesOf = (size: string) =>
  Number.parseInt(size, 10) * ({ k: 1024, M: 1 << 20 }[size.at(-1) as string] ?? 1);

function command({ kind, at, length, seed }: Operation, { size, cluster }: Layer): string | undefined {
  const start = at % size;
  const count = Math.min(length, size - start);
  if (kind === 'compress') {
    // A cluster at a time; where one is allocated already QEMU refuses, which does no harm.
    const bytes = bytesOf(cluster);
    const offset = Math.floor((start * 1024) / bytes) * bytes;
    return offset + bytes <= size * 1024 ? `write -c -P ${seed} ${offset} ${bytes}` : undefined;
  }
  const flags = { write: `write -P ${seed}`, zero: 'write -z', unmap: 'write -z -u', discard: 'discard' }[
    kind
  ];
  return `${flags} ${start}k ${count}k`;
}

/** Whether small files look preallocated is decided by their blocks, which differ between file systems. */
const withoutHoles = (entries: readonly MapEntry[]) =>
  joined(entries.map((entry) => ({ ...entry, zero: entry.zero && !entry.data })));

interop('images made by any sequence of writes', () => {
  const space = new Workspace();

  it('read and map here as they do in qemu-img', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(layer, { minLength: 1, maxLength: 3 }), async (layers) => {
        layers.forEach((one, i) => {
          const extended = one.extended && bytesOf(one.cluster) >= 16384;
          const options = [
            `cluster_size=${one.cluster},compression_type=${one.type}`,
            ...(extended ? ['extended_l2=on'] : []),
            ...(one.preallocated && i === 0 ? ['preallocation=metadata'] : []),
          ].join();
          const behind = i === 0 ? [] : ['-b', `l${i - 1}.qcow2`, '-F', 'qcow2'];
          space.create(`l${i}.qcow2`, `${one.size}k`, options, ...behind);
          for (const operation of one.operations) {
            const text = command(operation, one);
            if (text === undefined) continue;
            try {
              space.io(`l${i}.qcow2`, [text]);
            } catch (error) {
              if (operation.kind !== 'compress') throw error;
            }
          }
        });
        const top = `l${layers.length - 1}.qcow2`;
        space.img('convert', '-O', 'raw', top, 'out.raw');
        const model = readFileSync(space.path('out.raw'));
        const disk = await space.open(top);
        try {
          expect(Buffer.compare(await disk.read(0, disk.size), model)).toBe(0);
          const found = await space.mapOf(disk);
          expect(withoutHoles(found)).toEqual(withoutHoles(space.map(top)));
          for (const { start, length, zero } of found) {
            if (zero) expect(model.subarray(start, start + length).every((byte) => byte === 0)).toBe(true);
          }
        } finally {
          await disk.close();
        }
      }),
      { numRuns: Number(process.env.INTEROP_RUNS ?? 8) },
    );
  });
});
