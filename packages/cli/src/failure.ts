import { BlockError } from '@blockyard/core';
import { exitCodes, Interrupted, UsageError } from './exit.ts';
import { printable } from './output/printable.ts';
import type { Terminal } from './terminal.ts';

/** What the library says in the words of its API, said again in those of the command line. */
const hints: Readonly<Record<string, string>> = {
  ERR_DENIED_REFERENCE: 'on this command line: --references allow',
  ERR_FORMAT_REQUIRED: 'on this command line: --probe',
  ERR_IN_USE: 'on this command line: -U',
};

/** One line of an error, and in which state things are left; or all of it as JSON. */
export function reportFailure(error: unknown, terminal: Terminal, debug: boolean): number {
  if (isBrokenPipe(error)) return exitCodes.brokenPipe;
  const { left } = error as { left?: string };
  const message = messageOf(error);
  if (terminal.json) {
    terminal.error(
      JSON.stringify({ error: { ...fields(error), message, ...(left ? { left } : {}) } }, undefined, 2),
    );
  } else {
    terminal.error(`blockyard: ${printable(message)}`);
    if (left) terminal.error(`blockyard: ${printable(left)}`);
  }
  if (debug && error instanceof Error) terminal.error(stackOf(error));
  if (error instanceof UsageError) return exitCodes.usage;
  return error instanceof Interrupted ? exitCodes.interrupted : exitCodes.failure;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  const hint = error instanceof BlockError ? hints[error.code] : undefined;
  return hint ? `${line} (${hint})` : line;
}

function fields(error: unknown): Record<string, unknown> {
  if (error instanceof UsageError) return { code: 'ERR_USAGE', kind: 'usage' };
  if (error instanceof Interrupted) return { code: 'ERR_INTERRUPTED', kind: 'state', signal: error.signal };
  if (!(error instanceof BlockError)) return { code: (error as { code?: unknown }).code ?? 'ERR_INTERNAL' };
  const { code, kind, op, path, offset, length, driver } = error;
  return { code, kind, op, path, offset, length, driver };
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

const isBrokenPipe = (error: unknown): boolean =>
  (error as { code?: unknown; syscall?: unknown } | undefined)?.code === 'EPIPE' &&
  (error as { op?: unknown }).op === undefined;
