import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { probe } from '@blockyard/native';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundle.ts';
import { engines, whyNot } from './machine.ts';
import { FILE_BYTES } from './programs/load.ts';

const run = promisify(execFile);
const file = join(tmpdir(), `blockyard-lifecycle-${process.pid}`);
const TIMES = 200;
// A process costs more than a worker: BLOCKYARD_THOROUGH=1 for as many of them.
const EXITS = process.env.BLOCKYARD_THOROUGH === '1' ? TIMES : 40;
const LIMIT = { timeout: 100_000 };

describe.skipIf(whyNot !== undefined)(`the end of an environment${whyNot ?? ''}`, () => {
  beforeAll(() => writeFile(file, new Uint8Array(FILE_BYTES).fill(1)));
  afterAll(() => rm(file, { force: true }));

  it.each(engines)(`%s: ${TIMES} workers terminated with I/O in flight`, LIMIT, async (kind) => {
    const program = await bundle('terminate');
    const { stdout } = await run(process.execPath, [program, kind, file, String(TIMES)], LIMIT);
    expect(stdout).toBe('survived\n');
  });

  it.skipIf(!probe().inflate.available)(`${TIMES} workers terminated while decoding`, LIMIT, async () => {
    const program = await bundle('terminate-decoding');
    const { stdout } = await run(process.execPath, [program, String(TIMES)], LIMIT);
    expect(stdout).toBe('survived\n');
  });

  it.each(engines)(`%s: ${EXITS} processes that exit with I/O in flight`, LIMIT, async (kind) => {
    const program = await bundle('exit');
    let left = EXITS;
    const lane = async () => {
      while (left-- > 0) await run(process.execPath, [program, kind, file], { timeout: 10_000 });
    };
    // Rejects on a signal or another exit code than 0.
    await Promise.all([lane(), lane(), lane(), lane()]);
  });

  it.each(engines)('%s: an idle engine lets the process end, a busy one does not', async (kind) => {
    const program = await bundle('idle');
    const { stdout } = await run(process.execPath, [program, kind, file], { timeout: 10_000 });
    expect(stdout).toBe('4106\n');
  });
});
