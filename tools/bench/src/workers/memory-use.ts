import { createRegistry, type NodeOptions } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import type { Measure } from '../pairs.ts';

export interface MemoryUseOptions {
  graph: NodeOptions;
  requests: number;
}

/** The most memory, in MB, that a process needs for random writes and reads all over a large disk. */
export async function memoryUse({ graph, requests }: MemoryUseOptions): Promise<Measure> {
  const drivers = createRegistry([rawPosix(), qcow2()]);
  const disk = await drivers.open(graph);
  const buffers = Array.from({ length: 32 }, () => disk.allocate(4096).fill(1));
  let left = requests;
  const lane = async (buffer: Uint8Array) => {
    while (left-- > 0) {
      const at = Math.floor(Math.random() * (disk.size / 4096)) * 4096;
      if (left % 2) await disk.write(at, buffer);
      else await disk.read(at, buffer);
    }
  };
  await Promise.all(buffers.map(lane));
  await disk.close();
  return { value: process.resourceUsage().maxRSS / 1000 };
}
