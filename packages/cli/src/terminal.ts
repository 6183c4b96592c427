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

/** What a command has to speak with. What Node makes only when looked at is looked at only when needed. */
export class Terminal {
  readonly streams: Streams;
  quiet = false;
  json = false;
  readonly #signal: () => AbortSignal;
  #out: Colors | undefined;
  #err: Colors | undefined;
  #line: { clear(): void } | undefined;

  constructor(streams: Streams, signal: () => AbortSignal) {
    this.streams = streams;
    this.#signal = signal;
  }

  /** Aborts when the user asks to stop. Until it is looked at a signal ends the process at once. */
  get signal(): AbortSignal {
    return this.#signal();
  }

  /** Colours for standard output; plain where it is no terminal. */
  get out(): Colors {
    this.#out ??= colorsFor(this.streams.stdout, this.streams.env);
    return this.#out;
  }

  /** The same for standard error. */
  get err(): Colors {
    this.#err ??= colorsFor(this.streams.stderr, this.streams.env);
    return this.#err;
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

function colorsFor(output: Output, env: Streams['env']): Colors {
  if (env.NO_COLOR) return createColors(false);
  if (env.FORCE_COLOR) return createColors(env.FORCE_COLOR !== '0');
  return createColors(output.isTTY === true && env.TERM !== 'dumb');
}
