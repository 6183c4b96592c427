interface Generation {
  running: number;
  done: (() => void) | undefined;
}

/**
 * Tells when the requests that are running now have ended, while others begin: a cluster that was given up may be
 * reused only when nobody who found it before still reads or writes there.
 */
export class Generations {
  #now: Generation = { running: 0, done: undefined };
  #before: Promise<unknown> = Promise.resolve();

  enter(): Generation {
    this.#now.running++;
    return this.#now;
  }

  leave(generation: Generation): void {
    if (--generation.running === 0) generation.done?.();
  }

  /** Resolves when all that entered so far have left. */
  passed(): Promise<unknown> {
    const last = this.#now;
    if (last.running > 0) {
      this.#now = { running: 0, done: undefined };
      const ended = new Promise<void>((resolve) => {
        last.done = resolve;
      });
      this.#before = Promise.all([this.#before, ended]);
    }
    return this.#before;
  }
}
