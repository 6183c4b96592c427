import type { Native } from '@blockyard/native';
import type { Host, HostFile } from './host.ts';
import { pageSize } from './page-size.ts';

/** Files over the native addon: its engines, its calls, its aligned memory. */
export function nativeHost(native: Native): Host {
  const { files } = native;
  return {
    name: 'native',
    hasCalls: true,
    reason: undefined,
    get pageSize() {
      return pageSize();
    },
    memory: () => native.memory,
    async open(path, flags, { aio, direct, mode }) {
      const engine = native.engine(aio, { direct });
      let fd: number;
      try {
        fd = await files.open(path, flags, mode);
      } catch (error) {
        await engine.close();
        throw error;
      }
      return {
        fd,
        engine: engine.name,
        calls: files,
        read: (position, into, signal) => engine.read(fd, position, into, signal),
        write: (position, from, signal) => engine.write(fd, position, from, signal),
        sync: (dataOnly) => engine.sync(fd, dataOnly),
        status: () => files.status(fd),
        blockDevice: () => files.blockDevice(fd),
        truncate: (size) => files.truncate(fd, size),
        async close() {
          try {
            await engine.close();
          } finally {
            await files.close(fd);
          }
        },
      } satisfies HostFile;
    },
  };
}
