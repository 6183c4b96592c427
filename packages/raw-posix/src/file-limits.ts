import { BlockError, type BlockLimits } from '@blockyard/core';
import { probeAlignment } from './alignment.ts';
import type { Opened } from './opened.ts';

/** One call to a device takes no more, so that an abort need not wait for minutes. */
const mostDeviceBytes = 1 << 30;

/**
 * Buffered I/O demands nothing. Direct I/O demands what the probe finds. The kernel's transfer limits are of no
 * concern: it splits requests by itself.
 */
export async function fileLimits(limits: BlockLimits, opened: Opened): Promise<void> {
  const { direct, host, kind, sector, start, filename } = opened;
  const { request, memory } = direct ? await probeAlignment(opened) : { request: 1, memory: 1 };
  limits.requestAlignment = request;
  limits.minMemAlignment = memory;
  limits.optMemAlignment = Math.max(memory, host.pageSize);
  if (kind === 'block') {
    limits.pwriteZeroesAlignment = limits.pdiscardAlignment = sector;
    limits.maxPwriteZeroes = limits.maxPdiscard = mostDeviceBytes;
  }
  const unit = Math.max(request, sector);
  if (start % unit !== 0) {
    const text = `open ${filename}: offset ${start} is not a multiple of ${unit}, which ${direct ? 'direct I/O on this file' : 'this device'} demands; move the window${direct ? ', or use cache.direct: false' : ''}`;
    throw new BlockError('ERR_INVALID_OPTION', text, {
      op: 'open',
      driver: 'file',
      path: filename,
      offset: start,
    });
  }
}
