/** Longest time without a turn of the event loop, where timers and signals are handled. */
const holdMs = 20;

/** Lets the event loop turn now and then in a loop that may never have to wait. */
export class Breath {
  #last = Date.now();

  /** A promise to await when it is time, else undefined. */
  take(): Promise<void> | undefined {
    if (Date.now() - this.#last < holdMs) return undefined;
    return new Promise((resolve) =>
      setTimeout(() => {
        this.#last = Date.now();
        resolve();
      }, 0),
    );
  }
}
