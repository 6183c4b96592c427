import { Readable } from 'node:stream';
import { main } from '../../src/main.ts';
import { type Output, Terminal } from '../../src/terminal.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** Standard output as it was written. */
  bytes: Buffer;
}

export interface RunSettings {
  stdin?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Standard error is a terminal of so many columns. */
  columns?: number;
  env?: Record<string, string>;
  signal?: AbortSignal;
}

/** Runs the command line in this process. */
export async function run(argv: readonly string[], settings: RunSettings = {}): Promise<Ran> {
  const out: Uint8Array[] = [];
  const err: string[] = [];
  const stdout: Output = {
    write(chunk: string | Uint8Array, done?: unknown) {
      // What is written may be used again at once.
      out.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk.slice());
      if (typeof done === 'function') done();
      return true;
    },
  };
  const stderr: Output = {
    ...(settings.columns === undefined ? {} : { isTTY: true, columns: settings.columns }),
    write(chunk: string) {
      err.push(chunk);
      return true;
    },
  };
  const streams = { stdin: Readable.from(settings.stdin ?? []), stdout, stderr, env: settings.env ?? {} };
  const signal = settings.signal ?? new AbortController().signal;
  const code = await main(argv, new Terminal(streams, () => signal));
  const bytes = Buffer.concat(out);
  return { code, out: bytes.toString(), err: err.join(''), bytes };
}
