import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { Workspace } from '../../interop/qemu.ts';
import type { Files } from './judge.ts';

/** Puts files where the real tools find them, under the names that images have for each other. */
export function put(space: Workspace, files: Files): void {
  for (const [name, bytes] of files) writeFileSync(space.path(name), bytes);
}

/** The real qemu-img check: leaks are exit status 3. */
export function qemuCheck(space: Workspace, name: string, leaksToo: boolean): void {
  const args = ['check', '-f', 'qcow2', '--output=json', name];
  const { status, stdout, stderr } = spawnSync('qemu-img', args, { cwd: space.directory, encoding: 'utf8' });
  if (status === 0 || (status === 3 && !leaksToo)) return;
  throw new Error(`qemu-img check: status ${status}\n${stderr.slice(0, 1000)}\n${stdout.slice(0, 1000)}`);
}

/** The real qemu-img compare with what the disk should hold. */
export function qemuCompare(space: Workspace, name: string, disk: Uint8Array): void {
  writeFileSync(space.path('expected.raw'), disk);
  const args = ['compare', '-f', 'qcow2', '-F', 'raw', name, 'expected.raw'];
  const { status, stdout, stderr } = spawnSync('qemu-img', args, { cwd: space.directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`qemu-img compare: ${stdout}${stderr}`);
}

export function repairLeaks(space: Workspace, name: string): void {
  spawnSync('qemu-img', ['check', '-q', '-f', 'qcow2', '-r', 'leaks', name], {
    cwd: space.directory,
    stdio: 'ignore',
  });
}
