import { BlockError } from '@blockyard/core';
import { exitCodes, Interrupted, UsageError } from './exit.ts';
import { printable } from './output/printable.ts';
import type { Terminal } from './terminal.ts';
import { inOurWords } from './words.ts';

/** Standard output tells of a failure twice: to who wrote, and as an event. */
const told = new WeakSet<object>();

export const wasReported = (error: object): boolean => told.has(error);

/** One line of an error, and in which state things are left; or all of it as JSON. */
export function reportFailure(error: unknown, terminal: Terminal, debug: boolean): number {
  if (isBrokenPipe(error)) return exitCodes.brokenPipe;
  if (error instanceof Error) told.add(error);
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
  if (error instanceof UsageError) return error.exitCode;
  return error instanceof Interrupted ? exitCodes.interrupted : exitCodes.failure;
}

function messageOf(error: unknown): string {
  if (isOutputFailure(error)) {
    const { code, message } = error;
    const why = /^\w+: (.*?)(?:, write)?$/s.exec(message)?.[1] ?? message;
    return `write to standard output: ${why} (${code}); what it got is not whole`;
  }
  const text = error instanceof Error ? error.message : String(error);
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return error instanceof BlockError ? inOurWords(line) : line;
}

/** Everything else that is written goes through a driver, which makes it a `BlockError`. */
const isOutputFailure = (error: unknown): error is NodeJS.ErrnoException & { code: string } =>
  error instanceof Error &&
  !(error instanceof BlockError) &&
  (error as NodeJS.ErrnoException).syscall === 'write' &&
  typeof (error as NodeJS.ErrnoException).code === 'string';

function fields(error: unknown): Record<string, unknown> {
  if (error instanceof UsageError) return { code: 'ERR_USAGE', kind: 'usage' };
  if (error instanceof Interrupted) return { code: 'ERR_INTERRUPTED', kind: 'state', signal: error.signal };
  if (isOutputFailure(error)) return { code: error.code, kind: 'system', op: 'write' };
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
