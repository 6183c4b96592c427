/** Work in flight of one request, bounded. Settles only when all that was started has: memory in use is not given back. */
export class Flight {
  readonly #most: number;
  #count = 0;
  #failure: { error: unknown } | undefined;
  #resume: (() => void) | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get full(): boolean {
    return this.#count >= this.#most;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  add(work: Promise<unknown>): void {
    this.#count++;
    work.then(
      () => this.#settled(),
      (error: unknown) => {
        this.fail(error);
        this.#settled();
      },
    );
  }

  /** The first failure is the one that is told. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Resolves when there is room for more. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** The end of the request: at once when nothing is in flight. @throws the first failure */
  finish(): Promise<void> | void {
    if (this.#count > 0) return this.#drain();
    if (this.#failure) throw this.#failure.error;
  }

  async #drain(): Promise<void> {
    while (this.#count > 0) await this.room();
    if (this.#failure) throw this.#failure.error;
  }

  #settled(): void {
    this.#count--;
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
