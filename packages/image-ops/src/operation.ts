/** What every operation takes. */
export interface OperationOptions {
  /** Stops the operation. It settles when every request in flight has, with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called after every step, from the operation's own turn: keep it short. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Requests in flight (default 8). */
  concurrency?: number | undefined;
  /** Most bytes of memory for data in flight (default 16 MiB). */
  bufferBytes?: number | undefined;
  /** Called at most once, when memory was short and the operation goes on with fewer or smaller requests. */
  onLittleMemory?: (() => void) | undefined;
}

/** How far an operation has come. All are bytes of the guest-visible disk. */
export interface Progress {
  /** Dealt with, one way or another. */
  done: number;
  total: number;
  /** Of `done`: known or found to be zero, and so not moved. */
  zero: number;
}

export const defaultConcurrency = 8;
export const defaultBufferBytes = 16 << 20;

/** Counts and reports; the operations only say what was done. */
export class ProgressCounter {
  readonly total: number;
  done = 0;
  zero = 0;
  readonly #report: OperationOptions['onProgress'];

  constructor(total: number, options: OperationOptions) {
    this.total = total;
    this.#report = options.onProgress;
    this.#report?.({ done: 0, total, zero: 0 });
  }

  add(done: number, zero = 0): void {
    this.done += done;
    this.zero += zero;
    this.#report?.({ done: this.done, total: this.total, zero: this.zero });
  }
}

/** @throws RangeError naming the option. */
export function checkCount(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${name}: expected a whole number of at least ${least}, got ${value}`);
  }
}
