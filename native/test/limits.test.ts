import { execFile, execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Probe } from '@blockyard/native';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundle.ts';
import { engines, whyNot } from './machine.ts';

const run = promisify(execFile);
const file = join(tmpdir(), `blockyard-limits-${process.pid}`);

const has = (tool: string, ...check: string[]) => {
  try {
    execFileSync(tool, check, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const strace = process.platform === 'linux' && has('strace', '-o', '/dev/null', 'true');
const prlimit = has('prlimit', '--version');

interface Told extends Probe {
  auto: string;
  bytes: number;
  refusal?: string;
}

describe.skipIf(whyNot !== undefined)(`what a machine forbids${whyNot ?? ''}`, () => {
  let program: string;
  beforeAll(async () => {
    program = await bundle('probe');
    writeFileSync(file, new Uint8Array(1000));
  });
  afterAll(() => rmSync(file, { force: true }));

  const told = async (
    command: string[],
    environment: NodeJS.ProcessEnv = {},
    ...rest: string[]
  ): Promise<Told> => {
    const [first, ...others] = [...command, process.execPath, program, file, ...rest] as [
      string,
      ...string[],
    ];
    const { stdout } = await run(first, others, { env: { ...process.env, ...environment }, timeout: 20_000 });
    return JSON.parse(stdout);
  };

  const inject = (...faults: string[]) => [
    'strace',
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=io_uring_setup,io_uring_enter,io_setup',
    ...faults.flatMap((fault) => ['-e', `inject=${fault}`]),
  ];

  it.skipIf(!strace)(
    `io_uring forbidden: auto moves on, asking for it says why${strace ? '' : ' (skipped: no strace)'}`,
    async () => {
      const buffered = await told(inject('io_uring_setup:error=EPERM'));
      expect(buffered).toMatchObject({ auto: 'threads', bytes: 100 });
      expect(buffered.engines.io_uring.reason).toMatch(/EPERM.*forbidden/);
      expect(buffered.refusal).toMatch(/io_uring engine cannot be had: EPERM/);
      const direct = await told(inject('io_uring_setup:error=ENOSYS'), {}, 'direct');
      expect(direct).toMatchObject({ auto: engines.includes('native') ? 'native' : 'threads', bytes: 100 });
    },
  );

  it.skipIf(!strace)(`no kernel engine at all: threads${strace ? '' : ' (skipped: no strace)'}`, async () => {
    const all = await told(inject('io_uring_setup:error=ENOMEM', 'io_setup:error=EAGAIN'), {}, 'direct');
    expect(all).toMatchObject({ auto: 'threads', bytes: 100 });
    expect(all.engines.io_uring.reason).toMatch(/RLIMIT_MEMLOCK/);
    expect(all.engines.native.reason).toMatch(/aio-max-nr/);
  });

  it.skipIf(!strace)(
    `a ring that takes nothing any more fails its requests${strace ? '' : ' (skipped: no strace)'}`,
    async () => {
      await expect(told(inject('io_uring_enter:error=EIO'))).rejects.toThrow(/EIO/);
      expect(await told(inject('io_uring_enter:error=EINTR:when=1..40'))).toMatchObject({ bytes: 100 });
    },
  );

  it.skipIf(!prlimit)(`works with no locked memory${prlimit ? '' : ' (skipped: no prlimit)'}`, async () => {
    expect(await told(['prlimit', '--memlock=0'])).toMatchObject({ bytes: 100 });
  });

  it('is as if it could not be loaded with BLOCKYARD_NATIVE=off', async () => {
    const off = await told([], { BLOCKYARD_NATIVE: 'off' });
    expect(off).toMatchObject({
      loaded: false,
      simd: 'none',
      reason: expect.stringContaining('BLOCKYARD_NATIVE=off'),
    });
    expect(off.auto).toBeUndefined();
  });
});
