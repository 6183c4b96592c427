import { rm, writeFile } from 'node:fs/promises';
import { conformance } from '@blockyard/conformance/vitest';
import { describe, it } from 'vitest';
import { rawPosix } from '../src/index.ts';
import { type Case, cases, pattern, scratch } from './support.ts';

const at = await scratch();
let made = 0;

function skips(one: Case): Record<string, string> {
  if (!one.direct || one.host !== 'node:fs') return {};
  const reason = 'WebAssembly memory is lent, never given away, so memory of its own is copied';
  return { 'counters/own-memory-no-copy': reason };
}

function conform(one: Case, size: number, passThrough: boolean): void {
  const native = one.host === 'native';
  const content = pattern(size).fill(0, 10_000, 30_000);
  conformance({
    name: `file, ${one.name}, ${size} bytes`,
    driver: rawPosix({ host: one.host }),
    supports: {
      write: true,
      resize: true,
      persist: true,
      discard: native,
      writeZeroes: native,
      blockStatus: native,
      copyRange: native,
    },
    passThrough,
    runs: 5,
    skip: skips(one),
    async fixture() {
      const filename = at(`disk-${made++}`);
      await writeFile(filename, content);
      return {
        options: { driver: 'file', filename, aio: one.aio, cache: { direct: one.direct } },
        size,
        content,
        cleanup: () => rm(filename, { force: true }),
      };
    },
  });
}

for (const { name, skip } of cases.filter((one) => one.skip !== undefined)) {
  describe.skipIf(skip)(`file conforms: ${name} (${skip})`, () => {
    it('conforms', () => {});
  });
}

for (const one of cases.filter((candidate) => candidate.skip === undefined)) {
  // No multiple of any block: the end of the file is where drivers go wrong.
  conform(one, 130_001, one.aio === 'io_uring');
  if (one.aio === 'io_uring') conform(one, 1 << 17, false);
}
