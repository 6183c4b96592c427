import { access, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createRegistry } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import { run } from './run.ts';

const gib = 2 ** 30;

/** The files that the cases read and write: made once, kept in the bench folder. */
export interface Images {
  raw: string;
  qcow2: string;
  text: string;
  zlib: string;
  zstd: string;
  empty: string;
  preallocated: string;
  target: string;
  /** Like `qcow2`, and written over. */
  overwritten: string;
  /** Noise of 256 MiB. */
  small: string;
  /** A disk of 1 TiB of which 16 GiB are allocated, all over it. */
  large: string;
  /** A disk of 16 TiB, empty. */
  huge: string;
  /** Made and removed by the cases. */
  written: string;
}

async function make(file: string, build: (path: string) => Promise<unknown>): Promise<string> {
  try {
    await access(file);
  } catch {
    await build(`${file}.part`);
    await rename(`${file}.part`, file);
  }
  return file;
}

/** Fills a file with what `fill` makes of each MiB, fully written. */
async function write(path: string, size: number, fill: (chunk: Buffer) => void): Promise<void> {
  const file = await open(path, 'w');
  const chunk = Buffer.alloc(1 << 20);
  for (let at = 0; at < size; at += chunk.length) {
    fill(chunk);
    await file.write(chunk, 0, chunk.length, at);
  }
  await file.sync();
  await file.close();
}

let state = 0x9e3779b9;
const noise = (chunk: Buffer): void => {
  const words = new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length / 4);
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
};
/** Base64 text: compresses to about three quarters, as real data might. */
const text = (chunk: Buffer): void => {
  const bytes = Buffer.alloc((chunk.length / 4) * 3);
  noise(bytes);
  chunk.write(bytes.toString('base64'), 'latin1');
};

/** A disk of 1 TiB with 16 GiB of clusters all over it, as that of a machine that has run for long. */
async function spread(path: string): Promise<void> {
  const drivers = createRegistry([rawPosix(), qcow2()]);
  const size = 1024 * gib;
  const far = gib / 2;
  await drivers.create(path, { format: 'qcow2', size, overwrite: true });
  await using disk = await drivers.open({ driver: 'qcow2', file: { driver: 'file', filename: path } });
  const block = disk.allocate(512).fill(1);
  for (let near = 0; near < 128 * 65536; near += 65536) {
    const writes: Promise<void>[] = [];
    for (let at = near; at < size; at += far) writes.push(disk.write(at, block));
    await Promise.all(writes);
  }
}

export async function makeImages(folder: string): Promise<Images> {
  await mkdir(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  const convert = (...args: string[]) => run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', ...args]);
  const raw = await make(at('noise.raw'), (path) => write(path, 2 * gib, noise));
  const plain = await make(at('text.raw'), (path) => write(path, gib / 2, text));
  return {
    raw,
    text: plain,
    qcow2: await make(at('noise.qcow2'), (path) => convert(raw, path)),
    zlib: await make(at('text.zlib.qcow2'), (path) => convert('-c', plain, path)),
    zstd: await make(at('text.zstd.qcow2'), (path) =>
      convert('-c', '-o', 'compression_type=zstd', plain, path),
    ),
    empty: await make(at('empty.qcow2'), (path) =>
      run('qemu-img', ['create', '-q', '-f', 'qcow2', path, '100G']),
    ),
    preallocated: await make(at('preallocated.qcow2'), (path) =>
      run('qemu-img', ['create', '-q', '-f', 'qcow2', '-o', 'preallocation=metadata', path, '1G']),
    ),
    target: at('target.raw'),
    overwritten: await make(at('overwritten.qcow2'), (path) => convert(raw, path)),
    small: await make(at('noise.small.raw'), (path) => write(path, gib / 4, noise)),
    large: await make(at('large.qcow2'), spread),
    huge: at('huge.qcow2'),
    written: at('written.qcow2'),
  };
}

/** Reads a file once from end to end, so that no later measurement is the first to touch it on the machine below. */
export async function touch(path: string): Promise<void> {
  const file = await open(path, 'r');
  const chunk = Buffer.alloc(1 << 22);
  while ((await file.read(chunk, 0, chunk.length)).bytesRead > 0);
  await file.close();
}
