import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { images, unpack } from '@blockyard/test-images';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const found = spawnSync('qemu-img', ['--version'], { encoding: 'utf8' }).status === 0;
if (!found && process.env.CI) throw new Error('qemu-img is missing, and CI is set: install qemu-utils');
const suite = found ? describe : describe.skip;

const { directory, path } = scratch();
const qemu = (...argv: string[]) => execFileSync('qemu-img', argv, { cwd: directory, encoding: 'utf8' });
const qemuCode = (...argv: string[]) => spawnSync('qemu-img', argv, { cwd: directory }).status;
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const MiB = 1 << 20;

suite('against the real qemu-img (skipped without it)', () => {
  const entries = images().filter(
    ({ tags, virtualSize }) => !tags.includes('encrypted') && virtualSize <= 64 * MiB,
  );

  it.each(entries.map((entry) => [entry.name, entry] as const))(
    'converts and maps %s to the same',
    async (name, entry) => {
      const image = unpack(entry, directory);
      const [ours, theirs] = [path('ours.raw'), path('theirs.raw')];
      const probe = entry.tags.includes('no-format') ? ['--probe'] : [];
      expect(await run(['convert', '--overwrite', ...probe, '-f', entry.format, image, ours])).toMatchObject({
        code: 0,
        err: '',
      });
      qemu('convert', '-f', entry.format, '-O', 'raw', image, theirs);
      // qemu-img rounds up to sectors.
      expect(statSync(theirs).size - statSync(ours).size).toBeLessThan(512);
      truncateSync(theirs, statSync(ours).size);
      expect(sha256(ours)).toBe(sha256(theirs));
      if (name !== 'over-odd.qcow2' && entry.format !== 'raw') {
        const map = JSON.parse((await run(['map', '--json', ...probe, image])).out) as Record<
          string,
          unknown
        >[];
        const reference = JSON.parse(qemu('map', '--output=json', image)) as Record<string, unknown>[];
        expect(comparable(map)).toEqual(comparable(reference));
      }
      rmSync(ours);
      rmSync(theirs);
    },
  );

  it.each(['--output=json', ''])('has the numbers of qemu-img measure (%s)', async (flag) => {
    const theirs = qemu('measure', '-O', 'raw', '--size', '10M', ...(flag ? [flag] : []));
    const { out } = await run(['measure', '-O', 'raw', '--size', '10M', ...(flag ? [flag] : [])]);
    if (flag) expect(JSON.parse(out)).toEqual(JSON.parse(theirs));
    else expect(out).toContain(/required size: (\d+)/.exec(theirs)?.[1]);
  });

  describe('compare', () => {
    beforeAll(() => {
      const bytes = noise(MiB);
      writeFileSync(path('a.raw'), bytes);
      writeFileSync(path('longer.raw'), Buffer.concat([bytes, new Uint8Array(MiB)]));
      writeFileSync(path('more.raw'), Buffer.concat([bytes, noise(MiB, 2)]));
      const changed = Buffer.from(bytes);
      changed[700_000] = 0;
      writeFileSync(path('changed.raw'), changed);
      qemu('convert', '-f', 'raw', '-O', 'qcow2', 'a.raw', 'a.qcow2');
      qemu('convert', '-f', 'raw', '-O', 'qcow2', '-c', 'longer.raw', 'longer.qcow2');
    });

    it.each([
      ['-f', 'raw', '-F', 'raw', 'a.raw', 'a.raw'],
      ['-f', 'raw', '-F', 'qcow2', 'a.raw', 'a.qcow2'],
      ['a.qcow2', 'longer.qcow2'],
      ['-s', 'a.qcow2', 'longer.qcow2'],
      ['-f', 'raw', '-F', 'raw', 'a.raw', 'more.raw'],
      ['-f', 'raw', '-F', 'raw', 'a.raw', 'changed.raw'],
      ['-f', 'raw', '-F', 'qcow2', 'changed.raw', 'longer.qcow2'],
      ['-f', 'raw', '-F', 'raw', 'a.raw', 'nowhere.raw'],
      ['-f', 'qcow2', '-F', 'raw', 'a.raw', 'a.raw'],
    ])('%s %s %s %s %s %s ends with the same exit code', async (...argv) => {
      const words = argv.filter((word) => word !== undefined);
      const ours = words.map((word) => (/\.(raw|qcow2)$/.test(word) ? path(word) : word));
      expect((await run(['compare', ...ours])).code).toBe(qemuCode('compare', ...words));
    });
  });

  it('reads a file system with files in it, compressed, behind an overlay', async () => {
    if (spawnSync('mke2fs', ['-V']).status !== 0) return;
    execFileSync('mke2fs', ['-q', '-t', 'ext4', '-d', import.meta.dirname, path('fs.raw'), '24M'], {
      stdio: 'ignore',
    });
    qemu(
      'convert',
      '-f',
      'raw',
      '-O',
      'qcow2',
      '-c',
      '-o',
      'compression_type=zstd',
      'fs.raw',
      'fs-base.qcow2',
    );
    qemu('create', '-q', '-f', 'qcow2', '-b', 'fs-base.qcow2', '-F', 'qcow2', 'fs-overlay.qcow2', '40M');
    expect((await run(['convert', path('fs-overlay.qcow2'), path('fs-ours.raw')])).code).toBe(0);
    qemu('convert', '-O', 'raw', 'fs-overlay.qcow2', 'fs-theirs.raw');
    expect(sha256(path('fs-ours.raw'))).toBe(sha256(path('fs-theirs.raw')));
    expect(qemuCode('compare', '-f', 'qcow2', '-F', 'raw', 'fs-overlay.qcow2', 'fs-ours.raw')).toBe(0);
  });

  it('makes files as sparse as qemu-img makes them', async () => {
    const bytes = noise(8 * MiB);
    for (let at = 0; at < bytes.length; at += 65_536) bytes.fill(0, at, at + 8192 + (at % 3) * 4096);
    writeFileSync(path('holes.raw'), bytes);
    await run(['convert', path('holes.raw'), path('holes-ours.raw')]);
    qemu('convert', '-f', 'raw', '-O', 'raw', 'holes.raw', 'holes-theirs.raw');
    expect(sha256(path('holes-ours.raw'))).toBe(sha256(path('holes.raw')));
    expect(statSync(path('holes-ours.raw')).blocks).toBe(statSync(path('holes-theirs.raw')).blocks);
  });
});

/** Versions of qemu-img differ in whether they tell what is compressed, and where zeroes are. */
function comparable(rows: readonly Record<string, unknown>[]) {
  const merged: Record<string, unknown>[] = [];
  for (const { start, length, depth, zero, data, present, offset } of rows) {
    // What qemu-img says of a disk without bytes.
    if (length === 0) continue;
    const last = merged.at(-1);
    const place = data && !zero ? offset : undefined;
    const continues =
      place === undefined ||
      last?.offset === undefined ||
      (last.offset as number) + (last.length as number) === place;
    const same =
      last && last.depth === depth && last.zero === zero && last.data === data && last.present === present;
    if (last && same && continues && (last.offset === undefined) === (place === undefined))
      last.length = (last.length as number) + (length as number);
    else merged.push({ start, length, depth, zero, data, present, offset: place });
  }
  return merged;
}
