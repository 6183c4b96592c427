import { writeFile } from 'node:fs/promises';
import { conformance } from '@blockyard/conformance/vitest';
import { native } from '@blockyard/native';
import { describe, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { loopDevice, noLoopDevices } from './loop.ts';
import { cases, pattern, scratch } from './support.ts';

const at = await scratch();
const missing = noLoopDevices() ?? (native ? undefined : 'needs the native addon');
const size = 1 << 18;
const content = pattern(size);

async function conform(sector: number, engines: readonly string[]): Promise<void> {
  const filename = await loopDevice(at(`device-${sector}`), size, sector);
  for (const { name, host, aio, direct, skip } of cases) {
    if (host !== 'native' || skip || !engines.includes(aio)) continue;
    // Through the page cache a device has no sectors to obey: one engine says it all.
    if (!direct && aio !== 'threads') continue;
    conformance({
      name: `loop device, ${name}, sectors of ${sector}`,
      driver: rawPosix({ host }),
      supports: { write: true, persist: true, discard: true, writeZeroes: true, copyRange: true },
      passThrough: false,
      runs: 4,
      async fixture() {
        await writeFile(filename, content);
        return { options: { driver: 'file', filename, aio, cache: { direct } }, size, content };
      },
    });
  }
}

if (missing) {
  describe.skip(`loop devices conform (${missing})`, () => {
    it('conforms', () => {});
  });
} else {
  await conform(512, ['io_uring']);
  await conform(4096, ['threads', 'io_uring', 'native']);
}
