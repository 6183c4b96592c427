// Keeps an engine busy on a file until it is stopped from outside. Shared by the programs that stop it.
import { constants, openSync } from 'node:fs';
import type { EngineName, Native } from '@blockyard/native';

const BLOCK = 4096;
export const FILE_BYTES = 4 << 20;

/** With O_DIRECT where the file system has it: requests are longer under way then. */
export function openForLoad(file: string): number {
  try {
    return openSync(file, constants.O_RDWR | (constants.O_DIRECT ?? 0));
  } catch {
    return openSync(file, constants.O_RDWR);
  }
}

/** Starts `lanes` endless lanes of mixed requests in memory of all kinds. */
export function startLoad(native: Native, kind: EngineName, fd: number, lanes: number): void {
  const engine = native.engine(kind);
  const lane = async (number: number) => {
    const pooled = native.memory.allocate(BLOCK, BLOCK);
    for (;;) {
      const position = Math.floor((Math.random() * FILE_BYTES) / BLOCK) * BLOCK;
      const memory = Math.random() < 0.5 ? pooled : native.memory.create(BLOCK, BLOCK);
      const data = Math.random() < 0.2 ? [memory.subarray(0, 512), memory.subarray(512)] : memory;
      if (number % 3 === 0) await engine.write(fd, position, data);
      else if (number === 1 && Math.random() < 0.05) await engine.sync(fd, true);
      else await engine.read(fd, position, data);
    }
  };
  for (let i = 0; i < lanes; i++) lane(i).catch(() => {});
}
