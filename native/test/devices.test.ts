import { execFileSync } from 'node:child_process';
import { constants, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { native as maybe, type Native } from '@blockyard/native';
import { afterAll, describe, expect, it } from 'vitest';
import { engines, whyNot } from './machine.ts';

const native = maybe as Native;
const MIB = 1 << 20;
const image = join(tmpdir(), `blockyard-loop-${process.pid}`);

/** A loop device over a fresh file, or why there is none. */
function attach(): { device?: string; why?: string } {
  if (whyNot !== undefined) return { why: whyNot };
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { why: ' (skipped: loop devices need root)' };
  try {
    writeFileSync(image, '');
    truncateSync(image, 16 * MIB);
    const arguments_ = ['--find', '--show', '--sector-size', '4096', image];
    return { device: execFileSync('losetup', arguments_, { encoding: 'utf8', stdio: 'pipe' }).trim() };
  } catch {
    rmSync(image, { force: true });
    return { why: ' (skipped: losetup could not attach a loop device)' };
  }
}

const { device, why } = attach();

describe.skipIf(device === undefined)(`block devices${why ?? ''}`, () => {
  afterAll(() => {
    if (device !== undefined) execFileSync('losetup', ['--detach', device]);
    rmSync(image, { force: true });
  });
  const { files } = native ?? {};
  const open = () => files.open(device as string, constants.O_RDWR | constants.O_DIRECT);

  it('tells size and sectors', async () => {
    const fd = await open();
    expect(await files.blockDevice(fd)).toMatchObject({
      size: 16 * MIB,
      logicalSectorSize: 4096,
      readOnly: false,
    });
    const status = await files.status(fd);
    expect(status.kind).toBe('block');
    expect(status.identity).toBe(`block:${status.rdevMajor}:${status.rdevMinor}`);
    await files.close(fd);
  });

  it.each(engines)('%s: reads and writes with O_DIRECT', async (kind) => {
    const fd = await open();
    const engine = native.engine(kind, { direct: true });
    const data = native.memory.create(MIB, 4096).fill(7);
    expect(await engine.write(fd, 4 * MIB, data)).toBe(MIB);
    await engine.sync(fd, true);
    const back = native.memory.create(MIB, 4096);
    expect(await engine.read(fd, 4 * MIB, back)).toBe(MIB);
    expect(back[MIB - 1]).toBe(7);
    await expect(engine.read(fd, 512, back)).rejects.toMatchObject({ code: 'EINVAL' });
    expect(await engine.read(fd, 16 * MIB, back)).toBe(0);
    await engine.close();
    await files.close(fd);
  });

  it('discards and zeroes', async () => {
    const fd = await open();
    const engine = native.engine('threads');
    const data = native.memory.create(4 * MIB, 4096).fill(7);
    const back = native.memory.create(MIB, 4096).fill(1);
    await engine.write(fd, 0, data);
    await files.blockDiscard(fd, 0, MIB);
    await engine.read(fd, 0, back);
    expect(native.isZero(back)).toBe(true);
    await files.blockZeroOut(fd, MIB, MIB);
    await engine.read(fd, MIB, back);
    expect(native.isZero(back)).toBe(true);
    await engine.read(fd, 2 * MIB, back);
    expect(native.findNonZero(back)).toBe(0);
    await expect(files.blockDiscard(fd, 1, 100)).rejects.toMatchObject({ code: 'EINVAL' });
    await engine.close();
    await files.close(fd);
  });
});

const generic =
  process.platform === 'linux' ? readdirSync('/dev').find((name) => /^sg\d+$/.test(name)) : undefined;

it.skipIf(whyNot !== undefined || generic === undefined)(
  `SCSI generic limits${generic === undefined ? ' (skipped: no /dev/sg*)' : ''}`,
  async () => {
    const fd = await native.files.open(`/dev/${generic}`, constants.O_RDWR);
    const limits = await native.files.scsiGeneric(fd);
    expect(limits.maxTransfer).toBeGreaterThan(0);
    expect(limits.maxSegments).toBeGreaterThan(0);
    await native.files.close(fd);
  },
);
