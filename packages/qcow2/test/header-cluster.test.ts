import { describe, expect, it } from 'vitest';
import { parseHeader } from '../src/index.ts';
import { Damage } from './support/damage.ts';
import { GatedFile } from './support/gated-file.ts';
import { ImageBuilder } from './support/image-builder.ts';

const cluster = 65536;
const damages: [string, (image: Damage) => void][] = [
  [
    'counts as free',
    ({ view, refcountTable }) => view.setUint16(Number(view.getBigUint64(refcountTable)), 0),
  ],
  ['is not counted', ({ view, refcountTable }) => view.setBigUint64(refcountTable, 0n)],
];
const works: [string, (file: GatedFile) => Promise<unknown>][] = [
  ['data', async (file) => (await file.open({ overlapCheck: 'none' })).write(0, new Uint8Array(cluster))],
  ['a snapshot', async (file) => (await file.open({ overlapCheck: 'none' })).features.snapshots?.create('a')],
];

describe('the cluster of the header', () => {
  const cases = damages.flatMap(([how, damage]) =>
    works.map(([what, work]) => ({ how, damage, what, work })),
  );

  it.each(cases)('is not given to $what when it $how', async ({ damage, work }) => {
    const image = new Damage(new ImageBuilder().build());
    damage(image);
    const file = new GatedFile(image.bytes);
    await work(file).catch((error: unknown) => expect(error).toMatchObject({ code: 'ERR_CORRUPT' }));
    expect(parseHeader(file.bytes.subarray(0, cluster)).size).toBe(1 << 20);
  });
});
