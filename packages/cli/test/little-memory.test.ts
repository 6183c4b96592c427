import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from './support/built.ts';
import { bin } from './support/process.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const source = path('source.raw');
const bytes = noise(20_000_000);
const said = 'blockyard: note: little memory is to be had: fewer, smaller requests in flight\n';

function limited(shell: string, ...argv: string[]) {
  const script = `${shell}; exec "$0" "$@"`;
  const run = spawnSync('/bin/bash', ['-c', script, process.execPath, bin, ...argv], { encoding: 'utf8' });
  return { ...run, stderr: run.stderr.replaceAll(/^blockyard: note: @blockyard.*\n/gm, '') };
}

beforeAll(async () => {
  writeFileSync(source, bytes);
  await ensureBuilt();
}, 90_000);

/** Of a build of Node that reserves more than this there is nothing to see. */
const starts = () => limited('ulimit -v 1048576', 'checksum', '-m', '1', source).status === 0;

describe.runIf(process.platform === 'linux')('under a limit', { timeout: 60_000 }, () => {
  it('of the address space it goes on with what there is', ({ skip }) => {
    if (!starts()) return skip();
    const target = path('copy.raw');
    const short = 'ulimit -v 1048576';
    const copied = limited(short, 'convert', '-m', '128', source, target);
    expect(copied).toMatchObject({ status: 0 });
    // How much is left is Node's to say.
    expect(['', said]).toContain(copied.stderr);
    expect(Buffer.compare(readFileSync(target), bytes)).toBe(0);
    rmSync(target);
    expect(limited(short, 'convert', '-q', source, target)).toMatchObject({ status: 0, stderr: '' });
    for (const argv of [
      ['compare', source, target],
      ['checksum', source],
    ]) {
      expect(limited(short, ...argv)).toMatchObject({ status: 0 });
    }
  });

  it('of the size of files it tells the errno once', () => {
    const target = path('large.raw');
    const { status, stderr } = limited('ulimit -f 1024', 'convert', source, target);
    expect(status).toBe(1);
    expect(stderr.match(/\(EFBIG\)/g)).toHaveLength(1);
  });
});
