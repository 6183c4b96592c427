/** One at a time, in the order of asking. */
export class Lock {
  #last: Promise<unknown> | undefined;

  get held(): boolean {
    return this.#last !== undefined;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last ? this.#last.then(work, work) : work();
    this.#last = mine;
    const done = () => {
      if (this.#last === mine) this.#last = undefined;
    };
    mine.then(done, done);
    return mine;
  }
}
