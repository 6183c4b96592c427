import { BlockError, type IoData } from '@blockyard/core';
import { byteLength, slice } from '@blockyard/iov-utils';
import { advised } from './advice.ts';
import type { HostFile } from './host.ts';
import { codeOf, isTransient } from './system-codes.ts';

/** EINTR and EAGAIN in a row after which they are believed. */
const patience = 100;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

/**
 * Reads what a first read left: goes on after a short count or a transient error, until everything is there or the
 * file ends. Returns the bytes read in all.
 */
export async function readRest(
  file: HostFile,
  position: number,
  into: IoData,
  done: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const length = byteLength(into);
  for (let tries = 0; done < length; ) {
    signal?.throwIfAborted();
    try {
      const count = await file.read(position + done, slice(into, done), signal);
      if (count === 0) break;
      done += count;
      tries = 0;
    } catch (error) {
      // Direct I/O refuses to go on where a file ends in the middle of a block.
      if (done > 0 && codeOf(error) === 'EINVAL') break;
      if (!isTransient(error) || ++tries > patience) throw advised(error);
      await pause();
    }
  }
  return done;
}

/** Writes what a first write left. A system that takes nothing and reports nothing is an error, not a loop. */
export async function writeRest(
  file: HostFile,
  position: number,
  from: IoData,
  done: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const length = byteLength(from);
  for (let tries = 0; done < length; ) {
    signal?.throwIfAborted();
    try {
      const count = await file.write(position + done, slice(from, done), signal);
      if (count === 0) {
        const text = `the system wrote 0 of ${length - done} bytes at ${position + done} and gave no reason; check the disk`;
        throw new BlockError('EIO', text, { op: 'write', offset: position + done, length: length - done });
      }
      done += count;
      tries = 0;
    } catch (error) {
      if (!isTransient(error) || ++tries > patience) throw advised(error);
      await pause();
    }
  }
}
