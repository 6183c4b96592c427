import { type ImageEntry, images, unpack } from '@blockyard/test-images';
import { describe, expect, it } from 'vitest';
import { run } from './support/run.ts';
import { scratch } from './support/scratch.ts';

const { directory } = scratch();
const flagsOf = ({ tags }: ImageEntry) => (tags.includes('no-format') ? ['--probe'] : []);
const all = images().filter(({ tags }) => !tags.includes('encrypted'));

/** Every image that the real qemu-img made, against what it said of it. */
describe.each(all.map((entry) => [entry.name, entry] as const))('%s', (_name, entry) => {
  const path = unpack(entry, directory);
  const format = ['-f', entry.format];

  it('is told of as qemu-img tells', async () => {
    const { code, out } = await run(['info', '--json', ...format, path]);
    expect(code).toBe(0);
    const told = JSON.parse(out);
    for (const [key, value] of Object.entries(entry.info)) {
      // qemu-img rounds sizes up to sectors; here they are kept to the byte.
      if (key === 'virtual-size') expect(told[key]).toBe(entry.virtualSize);
      else if (key === 'filename' || key === 'full-backing-filename' || key === 'actual-size') continue;
      else if (key === 'snapshots') expect(told[key]).toMatchObject(value as object);
      else expect([key, told[key]]).toEqual([key, value]);
    }
    expect((await run(['info', ...format, path])).out).toContain(`(${entry.virtualSize} bytes)`);
  });

  // Its backing file ends within a sector, which qemu-img rounds up.
  it.skipIf(entry.name === 'over-odd.qcow2')('has the extents that qemu-img maps', async () => {
    const { code, out, err } = await run(['map', '--json', ...flagsOf(entry), ...format, path]);
    expect([code, err]).toEqual([0, '']);
    const expected = entry.map.map(({ start, length, depth, zero, data, present }) => ({
      start,
      length,
      depth,
      zero,
      data,
      present,
    }));
    const found = (JSON.parse(out) as typeof expected).map(
      ({ start, length, depth, zero, data, present }) => ({ start, length, depth, zero, data, present }),
    );
    expect(merged(found)).toEqual(merged(expected));
  });

  it.skipIf(entry.content.algorithm !== 'sha256')('has the content that qemu-img converts', async () => {
    const { code, out, err } = await run(['checksum', '--json', ...flagsOf(entry), ...format, path]);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out).digest).toBe(entry.content.value);
    for (const { name, id, content, size } of entry.snapshots ?? []) {
      // A name that is also an id means the id.
      const which = (entry.snapshots ?? []).some((other) => other.id === name && other.id !== id) ? id : name;
      const snapshot = JSON.parse((await run(['checksum', '--json', '-l', which, ...format, path])).out);
      expect([snapshot.digest, snapshot.size]).toEqual([content.value, size]);
    }
  });
});

interface Row {
  start: number;
  length: number;
  depth: number;
  zero: boolean;
  data: boolean;
  present: boolean;
}

/** Where the bytes are cuts extents, and does not matter here. */
function merged(rows: readonly Row[]): Row[] {
  const found: Row[] = [];
  for (const row of rows) {
    const last = found.at(-1);
    const same =
      last && (['depth', 'zero', 'data', 'present'] as const).every((key) => last[key] === row[key]);
    if (same) last.length += row.length;
    else found.push({ ...row });
  }
  return found;
}
