/** One at a time, in the order of asking. */
export class Lock {
  #last: Promise<unknown> | undefined;

  get held(): boolean {
    return this.#last !== undefined;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last ? this.#last.then(work, work) : work();
    this.#last = mine;
    const leave = () => {
      if (this.#last === mine) this.#last = undefined;
    };
    mine.then(leave, leave);
    return mine;
  }
}
