import { exitCodes } from './exit.ts';
import { reportFailure, wasReported } from './failure.ts';
import { runProgram } from './program.ts';
import { abortOnSignals, lastWishes } from './signals.ts';
import { type Streams, Terminal } from './terminal.ts';

/** Runs a command line, without `node` and the script in front. @returns the exit code. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  // Errors of the command line itself come before options are read.
  terminal.json = argv.includes('--json') || argv.includes('--output=json');
  try {
    return await runProgram(argv, terminal);
  } catch (error) {
    return reportFailure(error, terminal, Boolean(terminal.streams.env.BLOCKYARD_DEBUG));
  }
}

/** The process. */
export async function start(): Promise<void> {
  let signals: ReturnType<typeof abortOnSignals> | undefined;
  const argv = process.argv.slice(2);
  const failed = (error: Error): number => {
    const code = reportFailure(error, terminal, Boolean(process.env.BLOCKYARD_DEBUG));
    return argv[0] === 'compare' && code === exitCodes.failure ? exitCodes.usage : code;
  };
  const outputFailed = (error: NodeJS.ErrnoException) => {
    // What is left to do is to stop; where nobody reads any more, without a word.
    for (const wish of lastWishes) wish();
    if (!wasReported(error)) process.exit(failed(error));
  };
  // Node would end with 0.
  const stuck = () => {
    for (const wish of lastWishes) wish();
    process.exitCode = failed(new Error('the work waits for what will never come; please report this'));
  };
  const terminal = new Terminal(processStreams(outputFailed), () => {
    signals ??= abortOnSignals();
    return signals.signal;
  });
  relayWarnings(terminal);
  process.once('beforeExit', stuck);
  process.exitCode = await main(argv, terminal);
  process.off('beforeExit', stuck);
  signals?.release();
}

function processStreams(outputFailed: (error: NodeJS.ErrnoException) => void): Streams {
  let stdout: typeof process.stdout | undefined;
  let stderr: typeof process.stderr | undefined;
  return {
    env: process.env,
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      stdout ??= process.stdout.on('error', outputFailed);
      return stdout;
    },
    get stderr() {
      // Without anybody to complain to, the work goes on and the exit code tells.
      stderr ??= process.stderr.on('error', () => {});
      return stderr;
    },
  };
}

/** What the packages have to tell is said once, in one line; Node's own warnings are for its developers. */
function relayWarnings(terminal: Terminal): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'BlockyardNotice') terminal.notice(warning.message);
    else if (terminal.streams.env.BLOCKYARD_DEBUG) terminal.error(`${warning.stack}`);
  });
}
