import { createRegistry, type Registry } from '@blockyard/core';
import type { FileStatus } from '@blockyard/native';
import { driverOver } from '../src/driver.ts';
import type { Host, HostFile } from '../src/host.ts';
import { fsHost } from '../src/host-fs.ts';

export function systemFailure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: told by a test`), { code });
}

export const regularFile = (size: number): FileStatus => ({
  kind: 'file',
  size,
  allocated: size,
  blockSize: 4096,
  identity: 'test',
  rdevMajor: 0,
  rdevMinor: 0,
});

/** The driver over node:fs, with some functions of every file replaced. */
export function registryWith(
  change: (file: HostFile) => Partial<HostFile>,
  hostChange: Partial<Host> = {},
): Registry {
  const base = fsHost('a test');
  const host: Host = {
    name: 'node:fs',
    hasCalls: false,
    reason: 'a test',
    pageSize: 4096,
    memory: base.memory,
    open: async (path, flags, settings) => {
      const file = await base.open(path, flags, settings);
      return { ...file, ...change(file) };
    },
    ...hostChange,
  };
  return createRegistry([driverOver(() => host)]);
}
