import { spawnSync } from 'node:child_process';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { afterAll } from 'vitest';
import { isRoot, run } from './support.ts';

/** Why there are no loop devices and mounts here; undefined where there are. */
export function noLoopDevices(): string | undefined {
  if (!isRoot) return 'needs root';
  try {
    run('losetup', '-f');
    return undefined;
  } catch (error) {
    return `losetup: ${(error as Error).message}`;
  }
}

/** Why such a file system cannot be made and mounted here. */
export function noFileSystem(type: string): string | undefined {
  const no = noLoopDevices();
  if (no) return no;
  return spawnSync(`mkfs.${type}`, ['-V'], { stdio: 'ignore' }).error
    ? `mkfs.${type} is not installed`
    : undefined;
}

/** A loop device over a new file, detached after the test file. */
export async function loopDevice(path: string, size: number, sector: number): Promise<string> {
  await writeFile(path, '');
  await truncate(path, size);
  const device = run('losetup', '--find', '--show', '--sector-size', String(sector), path).trim();
  afterAll(() => run('losetup', '--detach', device));
  return device;
}

/** A mounted file system, unmounted after the test file. Undefined where the kernel does not know or allow it. */
export async function mounted(
  type: string,
  at: (name: string) => string,
  size: number,
): Promise<string | undefined> {
  const directory = at(`mount-${type}`);
  await mkdir(directory);
  const attempt = (command: string, ...args: string[]) =>
    spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  if (type === 'tmpfs') {
    if (!attempt('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory)) return undefined;
  } else {
    const image = at(`image-${type}`);
    await writeFile(image, '');
    await truncate(image, size);
    if (!attempt(`mkfs.${type}`, type === 'ext4' ? '-F' : '-f', '-q', image)) return undefined;
    if (!attempt('mount', '-o', 'loop', image, directory)) return undefined;
  }
  afterAll(() => run('umount', directory));
  return directory;
}
