import { execFileSync } from 'node:child_process';
import { closeSync, copyFileSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digest } from './digest.ts';
import type { Digest, MappedExtent, SnapshotEntry } from './manifest.ts';

const qemuImg = (cwd: string, ...args: string[]): string =>
  execFileSync('qemu-img', args, { cwd, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' }, encoding: 'utf8' });

/** The arguments of qemu-img that open an image. */
export type Opening = readonly string[];

/** qemu-img rounds a raw disk up to whole sectors; the last extent ends where the disk does. */
export function readMap(cwd: string, open: Opening, size: number): MappedExtent[] {
  const map = JSON.parse(qemuImg(cwd, 'map', '-U', '--output=json', ...open)) as MappedExtent[];
  for (const extent of map) extent.length = Math.min(extent.length, size - extent.start);
  return map.filter((extent) => extent.length > 0);
}

/** `qemu-img info`, without what depends on the machine it ran on. */
export function readInfo(
  cwd: string,
  name: string,
  format: string,
): Record<string, unknown> & { 'virtual-size': number } {
  const info = JSON.parse(qemuImg(cwd, 'info', '-U', '--output=json', '-f', format, name));
  for (const field of ['actual-size', 'full-backing-filename', 'children']) delete info[field];
  return info;
}

/** What a guest reads, by way of a raw copy made by the real qemu-img. */
export async function readDigest(
  cwd: string,
  open: Opening,
  map: MappedExtent[],
  size: number,
): Promise<Digest> {
  const [, format, name] = open;
  if (format === 'raw') return await digestFile(join(cwd, name as string), size, map);
  qemuImg(cwd, 'convert', '-U', '-O', 'raw', ...open, 'guest.raw');
  const result = await digestFile(join(cwd, 'guest.raw'), size, map);
  rmSync(join(cwd, 'guest.raw'));
  return result;
}

async function digestFile(path: string, size: number, map: MappedExtent[]): Promise<Digest> {
  const fd = openSync(path, 'r');
  try {
    const runs = map.filter((extent) => !extent.zero);
    if (fstatSync(fd).size < size) throw new Error(`${path}: shorter than ${size} bytes`);
    return await digest({
      size,
      runs,
      read(offset, length) {
        const bytes = new Uint8Array(length);
        readSync(fd, bytes, 0, length, offset);
        return bytes;
      },
    });
  } finally {
    closeSync(fd);
  }
}

/** Each snapshot by going back to it in a copy: that also brings back the size that the disk had. */
export async function readSnapshots(
  cwd: string,
  name: string,
  info: Record<string, unknown>,
): Promise<SnapshotEntry[]> {
  const found: SnapshotEntry[] = [];
  for (const { id, name: title } of (info.snapshots ?? []) as { id: string; name: string }[]) {
    copyFileSync(join(cwd, name), join(cwd, 'back.qcow2'));
    qemuImg(cwd, 'snapshot', '-a', id, 'back.qcow2');
    const size = readInfo(cwd, 'back.qcow2', 'qcow2')['virtual-size'];
    const open = ['-f', 'qcow2', 'back.qcow2'];
    const map = readMap(cwd, open, size);
    found.push({ id, name: title, size, content: await readDigest(cwd, open, map, size) });
    rmSync(join(cwd, 'back.qcow2'));
  }
  return found;
}

export const otherFiles = (cwd: string, keep: string[]): string[] =>
  readdirSync(cwd).filter((name) => !keep.includes(name));
