import { writeFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRegistry } from '@blockyard/core';
import { describe, expect, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { cases, scratch } from './support.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const at = await scratch();

/** Heap that is still held after everything that can go has gone. */
const held = () => {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};

describe('in a steady state nothing is retained', () => {
  it.each(cases.filter((one) => one.skip === undefined))('$name', async ({ host, aio, direct }) => {
    const filename = at(`steady-${host.replace(':', '')}-${aio}-${direct}`);
    await writeFile(filename, new Uint8Array(1 << 20));
    const drivers = createRegistry([rawPosix({ host })]);
    const disk = await drivers.open({ driver: 'file', filename, aio, readOnly: true, cache: { direct } });
    const buffers = Array.from({ length: 32 }, () => disk.allocate(4096));
    const requests = async (count: number) => {
      for (let i = 0; i < count; i++)
        await Promise.all(buffers.map((buffer, lane) => disk.read(lane * 4096, buffer)));
    };
    await requests(100);
    const before = held();
    await requests(500);
    const grown = held() - before;
    // 16,000 requests: one byte kept of each would not be seen, one object would.
    expect(grown).toBeLessThan(16_000 * 20);
    expect(disk.stats.bounces).toBe(0);
    for (const buffer of buffers) disk.release(buffer);
    await disk.close();
  });
});
