import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, poke, told } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const MiB = 1 << 20;
const matching = (text: RegExp) => expect.stringMatching(text) as string;
writeFileSync(path('base.raw'), noise(2 * MiB));
writeFileSync(path('other.raw'), Buffer.concat([noise(MiB), noise(MiB / 2, 5)]));

async function overlay(name: string): Promise<string> {
  await done('create', '-q', '-f', 'qcow2', '-b', 'base.raw', '-F', 'raw', path(name), '3M');
  await poke(path(name), 'qcow2', 70_000, noise(100_000, 3));
  return path(name);
}

describe('rebase', () => {
  it('puts another image behind, and the disk stays what it is', async () => {
    const over = await overlay('a.qcow2');
    const before = await digest(over);
    expect(await done('rebase', '-b', 'other.raw', '-F', 'raw', over)).toMatch(
      /backed by other\.raw \(raw\); 1 MiB written to keep the disk what it is/,
    );
    expect(await told(over)).toMatchObject({
      'backing-filename': 'other.raw',
      'backing-filename-format': 'raw',
    });
    expect(await digest(over)).toBe(before);
    expect(await done('rebase', '-b', '', over)).toMatch(/no backing file any more/);
    expect(await told(over)).not.toHaveProperty('backing-filename');
    expect(await digest(over)).toBe(before);
    const back = JSON.parse(await done('rebase', '--json', '-b', 'base.raw', '-F', 'raw', over));
    expect(back).toMatchObject({ image: over, 'backing-filename': 'base.raw' });
    expect(await digest(over)).toBe(before);
  });

  it('with -u records the name, and opens nothing', async () => {
    const over = await overlay('b.qcow2');
    expect(await done('rebase', '-u', '-b', 'gone.qcow2', '-F', 'qcow2', over)).toMatch(/only the name/);
    expect(await told(over)).toMatchObject({
      'backing-filename': 'gone.qcow2',
      'backing-filename-format': 'qcow2',
    });
    // What is behind it is missing now.
    expect(await run(['rebase', '-b', '', over])).toMatchObject({ code: 1, err: matching(/gone\.qcow2/) });
    await done('rebase', '-u', '-b', '', over);
    expect(await told(over)).not.toHaveProperty('backing-filename');
  });

  it('needs the format, and an image that is there', async () => {
    const over = await overlay('c.qcow2');
    expect(await run(['rebase', '-b', 'other.raw', over])).toMatchObject({
      code: 1,
      err: matching(
        /format of the backing file other\.raw is not said; say it \(-F raw, which it seems to be\)/,
      ),
    });
    expect(await run(['rebase', '-u', '-b', 'other.raw', over])).toMatchObject({
      code: 1,
      err: matching(/-F/),
    });
    expect(await run(['rebase', '-b', 'none.raw', '-F', 'raw', over])).toMatchObject({
      code: 1,
      err: matching(/none\.raw.*-u records the name/),
    });
    expect(await run(['rebase', '-b', 'c.qcow2', '-F', 'qcow2', over])).toMatchObject({ code: 1 });
    expect(await told(over)).toMatchObject({ 'backing-filename': 'base.raw' });
  });
});
