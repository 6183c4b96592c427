import { exitCodes } from './exit.ts';
import { reportFailure } from './failure.ts';
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
  const terminal = new Terminal(processStreams(), () => {
    signals ??= abortOnSignals();
    return signals.signal;
  });
  relayWarnings(terminal);
  process.exitCode = await main(process.argv.slice(2), terminal);
  signals?.release();
}

function processStreams(): Streams {
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

function outputFailed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  // Nobody reads any more; what is left to do is to stop without a word.
  for (const wish of lastWishes) wish();
  process.exit(exitCodes.brokenPipe);
}

/** What the packages have to tell is said once, in one line; Node's own warnings are for its developers. */
function relayWarnings(terminal: Terminal): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'BlockyardNotice') terminal.notice(warning.message);
    else if (terminal.streams.env.BLOCKYARD_DEBUG) terminal.error(`${warning.stack}`);
  });
}
