/** Documented in `blockyard --help`; scripts rely on them. */
export const exitCodes = {
  ok: 0,
  /** The work failed; for `compare`: the images differ. */
  failure: 1,
  /** The command line is wrong; for `compare`: the work failed. */
  usage: 2,
  /** SIGINT, SIGTERM or SIGHUP. */
  interrupted: 130,
  /** Whoever read the output went away, as of a program that SIGPIPE ended. */
  brokenPipe: 141,
} as const;

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Another for commands whose 2 means something else. */
  exitCode: number = exitCodes.usage;
}

/** A signal asked to stop. */
export class Interrupted extends Error {
  override readonly name = 'AbortError';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}
