import { onAbort } from './aborts.ts';
import type { Channel, Ticket } from './channel.ts';
import type { Buffers } from './types.ts';

/** A request that `signal` can cancel. It settles only when the kernel has let go of its memory. */
export function submitAbortable(
  channel: Channel,
  op: number,
  fd: number,
  position: number,
  data: Buffers,
  signal: AbortSignal,
): Promise<number> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const ticket: Ticket = { slot: -1, start: () => {} };
    const settle = (bytes: number, error?: Error) => {
      forget();
      if (signal.aborted) reject(signal.reason);
      else if (error !== undefined) reject(error);
      else resolve(bytes);
    };
    const forget = onAbort(signal, () => {
      // True for one that had not left yet: nothing will complete it.
      if (channel.cancel(ticket)) settle(0);
    });
    try {
      channel.submit(op, fd, position, data, 0, settle, (error) => settle(0, error), ticket);
    } catch (error) {
      forget();
      reject(error);
    }
  });
}
