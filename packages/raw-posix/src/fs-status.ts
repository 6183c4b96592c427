import fs from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { BlockDeviceStatus, FileStatus } from '@blockyard/native';
import { deviceNumbers, identityOf } from './identity.ts';

const fstat = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<fs.BigIntStats>;

function kindOf(stats: fs.BigIntStats): FileStatus['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isBlockDevice()) return 'block';
  return stats.isCharacterDevice() ? 'character' : 'other';
}

/** What fstat tells, in the shape of the native call. */
export async function fsStatus(fd: number): Promise<FileStatus> {
  const stats = await fstat(fd, { bigint: true });
  const [rdevMajor, rdevMinor] = deviceNumbers(stats.rdev);
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    allocated: Number(stats.blocks) * 512,
    blockSize: Number(stats.blksize),
    identity: identityOf(stats),
    rdevMajor,
    rdevMinor,
  };
}

/** Linux tells in sysfs what node:fs has no ioctl for. */
export async function fsBlockDevice(fd: number): Promise<BlockDeviceStatus> {
  const { rdevMajor, rdevMinor } = await fsStatus(fd);
  const base = `/sys/dev/block/${rdevMajor}:${rdevMinor}`;
  const number = async (...names: string[]): Promise<number> => {
    for (const name of names) {
      const text = await readFile(`${base}/${name}`, 'utf8').catch(() => undefined);
      if (text !== undefined) return Number(text);
    }
    const error: NodeJS.ErrnoException = new Error(
      `ENOTSUP: ${base}/${names[0]} cannot be read, and node:fs has no other way`,
    );
    error.code = 'ENOTSUP';
    throw error;
  };
  // A partition has no queue of its own.
  const queue = (name: string) => number(`queue/${name}`, `../queue/${name}`);
  return {
    size: (await number('size')) * 512,
    logicalSectorSize: await queue('logical_block_size'),
    physicalSectorSize: await queue('physical_block_size'),
    readOnly: (await number('ro')) === 1,
  };
}
