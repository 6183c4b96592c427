import { BlockError } from '@blockyard/core';
import type { OperationOptions } from '@blockyard/image-ops';
import { requestsOf, type WorkFlags } from './options/common.ts';
import { ProgressLine } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

/** Enough for each request to be a large one. */
const bytesPerRequest = 2 << 20;

/** Runs an operation with the signal, the requests in flight and the progress that the command line asks for. */
export async function withProgress<T>(
  terminal: Terminal,
  doing: string,
  flags: WorkFlags,
  work: (options: OperationOptions) => Promise<T>,
): Promise<T> {
  const concurrency = requestsOf(flags.requests);
  const line = new ProgressLine(terminal, doing, flags.progress);
  let done = false;
  try {
    const { signal } = terminal;
    const options = {
      signal,
      concurrency,
      bufferBytes: concurrency * bytesPerRequest,
      onProgress: line.report,
      onLittleMemory: () => terminal.notice('little memory is to be had: fewer, smaller requests in flight'),
    };
    const result = await work(options);
    done = true;
    return result;
  } catch (error) {
    throw outOfMemory(error, doing);
  } finally {
    line.end(done);
  }
}

/** Adds to an error in which state things are left, once the work has begun. */
export async function leaving<T>(
  left: string,
  options: OperationOptions,
  work: (options: OperationOptions) => Promise<T>,
): Promise<T> {
  let begun = false;
  const onProgress: OperationOptions['onProgress'] = (progress) => {
    begun = true;
    options.onProgress?.(progress);
  };
  try {
    return await work({ ...options, onProgress });
  } catch (error) {
    if (begun && error instanceof Error) Object.assign(error, { left });
    throw error;
  }
}

/** V8 has no code for it. */
function outOfMemory(error: unknown, op: string): unknown {
  if (!(error instanceof RangeError) || !error.message.startsWith('Array buffer allocation failed'))
    return error;
  const text = `${op}: no memory is to be had for a request; let the process have more, or say -m 1`;
  return new BlockError('ENOMEM', text, { op, cause: error });
}
