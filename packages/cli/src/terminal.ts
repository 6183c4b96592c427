import type { Readable, Writable } from 'node:stream';
import { createColors } from 'picocolors';
import { printable } from './output/printable.ts';

export interface Output extends Pick<Writable, 'write'> {
  isTTY?: boolean;
  columns?: number;
}

export interface Streams {
  stdin: Readable;
  stdout: Output;
  stderr: Output;
  env: Record<string, string | undefined>;
}

export type Colors = ReturnType<typeof createColors>;

/** What a command has to speak with. */
export class Terminal {
  readonly streams: Streams;
  readonly signal: AbortSignal;
  /** Colours for standard output and error; plain where it is no terminal. */
  readonly out: Colors;
  readonly err: Colors;
  quiet = false;
  json = false;
  #line: { clear(): void } | undefined;

  constructor(streams: Streams, signal: AbortSignal) {
    this.streams = streams;
    this.signal = signal;
    const { env } = streams;
    const colors = (output: Output) =>
      createColors(
        env.NO_COLOR
          ? false
          : env.FORCE_COLOR
            ? env.FORCE_COLOR !== '0'
            : output.isTTY === true && env.TERM !== 'dumb',
      );
    this.out = colors(streams.stdout);
    this.err = colors(streams.stderr);
  }

  /** A result, on standard output. */
  print(text: string): void {
    this.#line?.clear();
    this.streams.stdout.write(`${text}\n`);
  }

  printJson(value: unknown): void {
    this.print(JSON.stringify(value, undefined, 2));
  }

  /** Something worth knowing that is no result and no error: on standard error, not with -q. */
  notice(text: string): void {
    if (this.quiet) return;
    this.#line?.clear();
    this.streams.stderr.write(`blockyard: ${this.err.yellow('note:')} ${printable(text)}\n`);
  }

  error(text: string): void {
    this.#line?.clear();
    this.streams.stderr.write(`${text}\n`);
  }

  /** The progress line, which makes room for other output. */
  set line(line: { clear(): void } | undefined) {
    this.#line = line;
  }
}
