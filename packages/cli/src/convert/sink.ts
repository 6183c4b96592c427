import type { Sink } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Standard output as the target of a copy. */
export function standardOutput({ streams, signal }: Terminal): Sink {
  const { stdout } = streams;
  if (stdout.isTTY) throw new UsageError('standard output is a terminal; send it to a file or a pipe');
  return {
    write: (chunk) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        // The reader may never come back for more.
        const stop = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        stdout.write(chunk, (error?: Error | null) => {
          signal.removeEventListener('abort', stop);
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}
