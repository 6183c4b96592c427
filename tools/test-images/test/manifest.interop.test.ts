import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { images, unpack, wholeUpTo } from '@blockyard/test-images';
import { afterAll, describe, expect, test } from 'vitest';

const missing = spawnSync('qemu-img', ['--version']).error !== undefined;
if (missing && process.env.CI) throw new Error('qemu-img is not installed, and CI demands it');

const directory = mkdtempSync(join(tmpdir(), 'blockyard-manifest-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const whole = images().filter(
  ({ tags, virtualSize }) => !tags.includes('encrypted') && virtualSize > 0 && virtualSize <= wholeUpTo,
);

describe.skipIf(missing)(
  `the real qemu-img reads what the manifest says${missing ? ' (not installed)' : ''}`,
  () => {
    test.each(whole)('$name', ({ format, name, virtualSize, content, ...image }) => {
      unpack({ format, name, virtualSize, content, ...image }, directory);
      const qemuImg = (...args: string[]) => execFileSync('qemu-img', args, { cwd: directory });
      qemuImg('convert', '-U', '-f', format, '-O', 'raw', name, 'guest.out');
      // Of a raw disk qemu-img makes whole sectors.
      const guest = readFileSync(join(directory, 'guest.out')).subarray(0, virtualSize);
      expect(createHash('sha256').update(guest).digest('hex')).toBe(content.value);
    });
  },
);
