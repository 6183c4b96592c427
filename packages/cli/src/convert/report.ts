import type { ConvertResult } from '@blockyard/image-ops';
import { formatBytes, formatDuration } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import type { ConvertJob } from './flags.ts';

export type ConvertReport = Partial<ConvertResult> & { size: number; verified?: boolean };

/** What was done: JSON, or one line for people at a terminal. */
export function report({ source, target, terminal }: ConvertJob, result: ConvertReport, ms: number): void {
  if (terminal.json) {
    terminal.printJson({ source, target, ...result, milliseconds: Math.round(ms) });
    return;
  }
  // Scripts get silence for success, as from qemu-img.
  if (terminal.quiet || !terminal.streams.stderr.isTTY) return;
  const { size, bytesWritten = 0, bytesOffloaded = 0, verified } = result;
  const { err } = terminal;
  const seconds = ms / 1000;
  const time =
    seconds < 60 ? `${seconds.toFixed(seconds < 1 ? 2 : seconds < 10 ? 1 : 0)} s` : formatDuration(seconds);
  const parts = [
    `${formatBytes(bytesWritten)} written`,
    ...(bytesOffloaded > 0 ? [`${formatBytes(bytesOffloaded)} shared or copied by the kernel`] : []),
    ...(size > bytesWritten + bytesOffloaded
      ? [`${formatBytes(size - bytesWritten - bytesOffloaded)} zero`]
      : []),
    time,
    ...(verified ? ['verified'] : []),
  ];
  terminal.error(
    `${err.green('done')} ${printable(target)}: ${formatBytes(size)} ${err.dim(`(${parts.join(', ')})`)}`,
  );
}
