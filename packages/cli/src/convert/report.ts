import type { ConvertResult } from '@blockyard/image-ops';
import { formatBytes, formatDuration, formatExact } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';
import type { ConvertJob } from './flags.ts';

export type ConvertReport = Partial<ConvertResult> & { size: number; verified?: boolean };

/** What was done: JSON, or one line for people at a terminal. */
export function report({ sources, target, terminal }: ConvertJob, result: ConvertReport, ms: number): void {
  if (terminal.json) {
    const source = sources.length === 1 ? sources[0] : sources;
    terminal.printJson({ source, target, ...result, milliseconds: Math.round(ms) });
    return;
  }
  tellLosses(result, terminal);
  // Scripts get silence for success, as from qemu-img.
  if (terminal.quiet || !terminal.streams.stderr.isTTY) return;
  const { size, bytesWritten = 0, bytesOffloaded = 0, bytesBacked = 0, verified } = result;
  const moved = bytesWritten + bytesOffloaded + bytesBacked;
  const { err } = terminal;
  const seconds = ms / 1000;
  const time =
    seconds < 60 ? `${seconds.toFixed(seconds < 1 ? 2 : seconds < 10 ? 1 : 0)} s` : formatDuration(seconds);
  const parts = [
    `${formatBytes(bytesWritten)} written`,
    ...(bytesOffloaded > 0 ? [`${formatBytes(bytesOffloaded)} shared or copied by the kernel`] : []),
    ...(bytesBacked > 0 ? [`${formatBytes(bytesBacked)} left to the backing file`] : []),
    ...(size > moved ? [`${formatBytes(size - moved)} zero`] : []),
    time,
    ...(verified ? ['verified'] : []),
  ];
  terminal.error(
    `${err.green('done')} ${printable(target)}: ${formatBytes(size)} ${err.dim(`(${parts.join(', ')})`)}`,
  );
}

/** Ranges that people are shown; --json has all that were kept. */
const shownRanges = 10;

/** What is not in the target though it was in the source. It is told with -q too: it is no comment, it is the result. */
function tellLosses({ lost, bitmaps }: ConvertReport, terminal: Terminal): void {
  const tell = (text: string) => terminal.error(`blockyard: lost: ${text}`);
  for (const name of bitmaps?.skipped ?? [])
    terminal.notice(`the bitmap '${name}' is broken and was left out`);
  if (!lost || lost.bytes === 0) return;
  for (const { offset, length, reason } of lost.ranges.slice(0, shownRanges))
    tell(`${length} bytes at ${offset} could not be read and are zero now: ${printable(reason)}`);
  const more = lost.ranges.length - shownRanges;
  if (!lost.complete) tell('and more such ranges');
  else if (more > 0) tell(`and ${more} such ranges more`);
  tell(`${formatExact(lost.bytes)} of the disk in all`);
}
