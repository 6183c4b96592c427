import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Measure } from './pairs.ts';

const execute = promisify(execFile);

export async function run(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(command, [...args], { maxBuffer: 64 << 20 });
  return stdout;
}

/** The wall time of a whole command, in seconds. */
export async function wall(command: string, args: readonly string[]): Promise<Measure> {
  const start = process.hrtime.bigint();
  await run(command, args);
  return { value: Number(process.hrtime.bigint() - start) / 1e9 };
}

/** Runs one of our workers in a process of its own, as the peers run. */
export async function worker(name: string, options: object): Promise<Measure> {
  const file = fileURLToPath(new URL('./worker.js', import.meta.url));
  const output = await run(process.execPath, ['--expose-gc', file, name, JSON.stringify(options)]);
  return JSON.parse(output) as Measure;
}

/** IOPS as fio counts them. `--thread`, because fio's processes are scheduled in another group and come out slower. */
export async function fio(options: Record<string, string | number>): Promise<Measure> {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const fixed = [
    '--name=bench',
    '--thread',
    '--time_based',
    '--randrepeat=0',
    '--norandommap',
    '--group_reporting',
  ];
  const { jobs } = JSON.parse(await run('fio', [...fixed, ...args, '--output-format=json'])) as {
    jobs: [{ read: { iops: number }; write: { iops: number } }];
  };
  return { value: jobs[0].read.iops + jobs[0].write.iops };
}
