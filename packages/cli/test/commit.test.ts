import { copyFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, header, poke } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { directory, path } = scratch();
const MiB = 1 << 20;
const matching = (text: RegExp) => expect.stringMatching(text) as string;
const allocated = async (image: string) =>
  JSON.parse(await done('map', '--json', image)).filter(
    ({ depth, present }: { depth: number; present: boolean }) => depth === 0 && present,
  ).length;

/** base.qcow2 <- mid.qcow2 <- top.qcow2, each with something of its own. */
async function chain(name: string): Promise<[base: string, mid: string, top: string]> {
  const [base, mid, top] = ['base', 'mid', 'top'].map((layer) => `${name}-${layer}.qcow2`) as [
    string,
    string,
    string,
  ];
  await done('create', '-q', '-f', 'qcow2', path(base), '2M');
  await poke(path(base), 'qcow2', 0, noise(MiB));
  await done('create', '-q', '-f', 'qcow2', '-b', base, '-F', 'qcow2', path(mid));
  await poke(path(mid), 'qcow2', 100_000, noise(300_000, 2));
  await done('create', '-q', '-f', 'qcow2', '-b', mid, '-F', 'qcow2', path(top), '3M');
  await poke(path(top), 'qcow2', 2_500_000, noise(100_000, 3));
  return [path(base), path(mid), path(top)];
}

describe('commit', () => {
  it('moves what an image holds into the one behind it', async () => {
    const [base, mid, top] = await chain('a');
    const [before, behind] = [await digest(top), await digest(base)];
    expect(await done('commit', top)).toMatch(
      /a-top\.qcow2: .* written to .*a-mid\.qcow2, .*grew from 2 MiB to 3 MiB, emptied\n$/,
    );
    expect(await digest(top)).toBe(before);
    expect(await digest(mid)).toBe(before);
    expect(await digest(base)).toBe(behind);
    expect(await allocated(top)).toBe(0);
  });

  it('with -d leaves the image as it is', async () => {
    const [, mid, top] = await chain('b');
    const [before, held] = [await digest(top), await allocated(top)];
    expect(JSON.parse(await done('commit', '-d', '--json', top))).toMatchObject({
      base: mid,
      emptied: false,
    });
    expect([await digest(mid), await digest(top), await allocated(top)]).toEqual([before, before, held]);
  });

  it('with -b goes further behind, and tells who shows something else now', async () => {
    const [base, mid, top] = await chain('c');
    const before = await digest(top);
    const held = await allocated(mid);
    const ended = await run(['commit', '-b', base, top]);
    expect(ended).toMatchObject({ code: 0, err: matching(/what .*c-mid\.qcow2 shows has changed/) });
    expect(ended.out).toMatch(/left as it is/);
    expect([await digest(base), await digest(top)]).toEqual([before, before]);
    expect(await allocated(mid)).toBe(held);
    expect(header(base).size).toBe(3 * MiB);
    // As the image itself names it, too.
    expect((await run(['commit', '-d', '-b', 'c-mid.qcow2', top])).code).toBe(0);
  });

  it('into a raw file', async () => {
    writeFileSync(path('base.raw'), noise(MiB));
    await done('create', '-q', '-f', 'qcow2', '-b', 'base.raw', '-F', 'raw', path('over.qcow2'));
    await poke(path('over.qcow2'), 'qcow2', 5000, noise(70_000, 7));
    const before = await digest(path('over.qcow2'));
    await done('commit', path('over.qcow2'));
    expect(await digest(path('base.raw'), '-f', 'raw')).toBe(before);
  });

  it('of a graph', async () => {
    const [base, , top] = await chain('d');
    const file = (filename: string) => ({ driver: 'file', filename });
    copyFileSync(base, path('elsewhere.qcow2'));
    const graph = {
      driver: 'qcow2',
      file: file(top),
      backing: { driver: 'qcow2', file: file(path('elsewhere.qcow2')) },
    };
    const before = await digest(JSON.stringify(graph));
    await done('commit', '-d', JSON.stringify(graph));
    expect(await digest(path('elsewhere.qcow2'))).toBe(before);
    expect(directory).not.toBe('');
  });

  it('refuses what is not behind, or nothing', async () => {
    const [base, , top] = await chain('e');
    expect(await run(['commit', base])).toMatchObject({
      code: 1,
      err: matching(/no backing file to commit into/),
    });
    expect(await run(['commit', '-b', 'x.qcow2', top])).toMatchObject({
      code: 1,
      err: matching(/x\.qcow2 is not behind it; there are .*e-mid\.qcow2, .*e-base\.qcow2/),
    });
  });
});
