import { alignUp } from '@blockyard/core';
import { formatExact } from '../output/bytes.ts';
import type { Terminal } from '../terminal.ts';

const sectorBytes = 512;

/**
 * The size that a disk of a format gets: whole sectors, as qemu-img makes it. QEMU reads such a disk in sectors, and does
 * not show what a size leaves over. Raw images keep theirs to the byte.
 */
export function wholeSectors(size: number, format: string, terminal: Terminal): number {
  const whole = format === 'raw' ? size : alignUp(size, sectorBytes);
  if (whole !== size)
    terminal.notice(
      `the disk gets ${formatExact(whole)} instead of ${size}: a ${format} image has whole sectors of ${sectorBytes} bytes, and what is beyond ${size} is zero`,
    );
  return whole;
}
