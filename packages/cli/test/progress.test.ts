import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { ProgressLine } from '../src/output/progress.ts';
import { Terminal } from '../src/terminal.ts';

function terminal(columns: number | undefined, flags: { quiet?: boolean; json?: boolean } = {}) {
  const written: string[] = [];
  const stderr = {
    ...(columns ? { isTTY: true, columns } : {}),
    write: (text: string) => written.push(text) > 0,
  };
  const made = new Terminal(
    {
      stdin: Readable.from([]),
      stdout: { write: () => true },
      stderr,
      env: { TERM: 'xterm', NO_COLOR: '1' },
    },
    () => new AbortController().signal,
  );
  Object.assign(made, flags);
  return { terminal: made, written };
}

const half = { done: 512 << 20, total: 1 << 30, zero: 256 << 20 };

function draw(columns: number | undefined, asked: boolean | undefined, flags = {}) {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const { terminal: to, written } = terminal(columns, flags);
    const line = new ProgressLine(to, 'convert', asked);
    vi.advanceTimersByTime(2000);
    line.report(half);
    line.report(half);
    line.end();
    return written;
  } finally {
    vi.useRealTimers();
  }
}

describe('progress', () => {
  it('is a line that comes and goes on a terminal', () => {
    const [line, cleared, ...rest] = draw(100, undefined);
    expect(line).toMatch(
      /^\rconvert {2}50% ━+─+ {2}512 MiB of 1 GiB {2}256 MiB\/s {2}0:02 left {2}256 MiB zero\u001b\[K$/,
    );
    expect(cleared).toBe('\r\u001b[K');
    expect(rest).toEqual([]);
  });
  it.each([20, 40, 60, 80, 200])('fits into %i columns', (columns) => {
    const line = draw(columns, undefined)[0]?.replaceAll(/\r|\u001b\[K/g, '') ?? '';
    expect(line.length).toBeLessThan(columns);
    expect(line.length).toBeGreaterThan(10);
    expect(line).toMatch(/^convert {2}50%(?: {2}0:02 left| [━─]+ .*MiB zero|.*(?:\/s|left|zero))?$/);
  });
  it.each([3, 8, 12, 13, 30])('leaves whole fields in %i columns', (columns) => {
    const line = draw(columns, undefined)[0]?.replaceAll(/\r|\u001b\[K/g, '') ?? '';
    expect(line.length).toBeLessThan(columns);
    expect(line).toMatch(columns === 3 ? /^50$/ : /^(?:convert {2})?50%(?: {2}0:02 left)?$/);
  });
  it('is lines elsewhere, and only when asked', () => {
    expect(draw(undefined, undefined)).toEqual([]);
    expect(draw(undefined, true)[0]).toMatch(/^convert {2}50% {2}512 MiB of 1 GiB.*\n$/);
  });
  it('is not there with -q, nor by itself with --json', () => {
    expect(draw(100, true, { quiet: true })).toEqual([]);
    expect(draw(100, undefined, { json: true })).toEqual([]);
    expect(draw(100, true, { json: true }).length).toBe(2);
  });
});
