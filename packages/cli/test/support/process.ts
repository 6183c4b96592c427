import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './built.ts';

export const bin = join(import.meta.dirname, '../../bin/blockyard.js');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  /** Without the notices of a machine that lacks something. */
  err: string;
  notices: string[];
}

export interface SpawnSettings {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Called once, when the process runs. */
  during?(child: ChildProcess): void;
}

/** Runs the built command as a process. */
export async function blockyard(argv: readonly string[], settings: SpawnSettings = {}): Promise<Ended> {
  await ensureBuilt();
  return await new Promise((resolve, reject) => {
    const env = { ...process.env, ...settings.env };
    const child = spawn(process.execPath, [bin, ...argv], { cwd: settings.cwd, env });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const lines = Buffer.concat(err)
        .toString()
        .split(/(?<=\n)/);
      const isNotice = (line: string) => line.startsWith('blockyard: note: @blockyard/');
      const [notices, rest] = [lines.filter(isNotice), lines.filter((line) => !isNotice(line))];
      resolve({ code, signal, out: Buffer.concat(out).toString(), err: rest.join(''), notices });
    });
    child.stdin.end(settings.stdin);
    settings.during?.(child);
  });
}
