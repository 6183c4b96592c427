import fs from 'node:fs';
import type { IoData } from '@blockyard/core';
import { fsBlockDevice, fsStatus } from './fs-status.ts';
import type { Host, HostFile } from './host.ts';
import { pageSize } from './page-size.ts';
import { wasmMemory } from './wasm-memory.ts';

/** Node takes lengths of 32 bits; the kernel itself stops a little below 2 GiB. Longer requests come back short. */
const mostBytes = 1 << 30;

type Done = (error: NodeJS.ErrnoException | null, count: number) => void;

/** The callback functions cost a third of what FileHandle costs. Positions are numbers: a bigint would be ignored. */
function request(start: (done: Done) => void): Promise<number> {
  return new Promise((resolve, reject) => start((error, count) => (error ? reject(error) : resolve(count))));
}

function call(start: (done: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

const cut = (data: Uint8Array): number => Math.min(data.byteLength, mostBytes);

export function fsRead(fd: number, position: number, into: IoData): Promise<number> {
  return Array.isArray(into)
    ? request((done) => fs.readv(fd, into as Uint8Array[], position, done))
    : request((done) => fs.read(fd, into as Uint8Array, 0, cut(into as Uint8Array), position, done));
}

export function fsWrite(fd: number, position: number, from: IoData): Promise<number> {
  return Array.isArray(from)
    ? request((done) => fs.writev(fd, from as Uint8Array[], position, done))
    : request((done) => fs.write(fd, from as Uint8Array, 0, cut(from as Uint8Array), position, done));
}

/** Files over node:fs alone. `reason` says why. */
export function fsHost(reason: string | undefined): Host {
  return {
    name: 'node:fs',
    hasCalls: false,
    reason,
    get pageSize() {
      return pageSize();
    },
    memory: wasmMemory,
    async open(path, flags, { mode }) {
      const fd = await request((done) => fs.open(path, flags, mode, done));
      return {
        fd,
        engine: 'threads',
        calls: undefined,
        read: (position, into) => fsRead(fd, position, into),
        write: (position, from) => fsWrite(fd, position, from),
        sync: (dataOnly) => call((done) => (dataOnly ? fs.fdatasync(fd, done) : fs.fsync(fd, done))),
        status: () => fsStatus(fd),
        blockDevice: () => fsBlockDevice(fd),
        truncate: (size) => call((done) => fs.ftruncate(fd, size, done)),
        close: () => call((done) => fs.close(fd, done)),
      } satisfies HostFile;
    },
  };
}
