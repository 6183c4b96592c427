/** Lets numbered holders through in order, one after the other has passed on its turn. */
export class Turns {
  #next = 0;
  #ended = false;
  readonly #waiting = new Map<number, () => void>();

  /** Resolves when every lower number has been passed. */
  wait(number: number): Promise<void> | undefined {
    if (this.#ended || number === this.#next) return undefined;
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  /** To be called exactly once for every number, in turn or not. */
  pass(number: number): void {
    if (this.#ended) return;
    if (number !== this.#next)
      throw new RangeError(`turn ${number} passed while it was the turn of ${this.#next}`);
    const resume = this.#waiting.get(++this.#next);
    this.#waiting.delete(this.#next);
    resume?.();
  }
  /** After a failure: some numbers will never be passed, and nobody may wait for them. */
  end(): void {
    this.#ended = true;
    for (const resume of this.#waiting.values()) resume();
    this.#waiting.clear();
  }
}
