/** One write in flight, and who waits for it. */
export interface Tracked {
  readonly start: number;
  readonly end: number;
  readonly serialising: boolean;
  waiters: (() => void)[] | undefined;
}

/**
 * Orders overlapping writes of which at least one reads, modifies and writes bytes around its own: without this the
 * bytes that another request wrote in between would be lost. A request waits only for earlier ones, so none waits for
 * ever.
 */
export class RequestTracker {
  readonly #active: Tracked[] = [];
  #serialising = 0;

  /** Takes the range; when `wait` is there, it is the caller's only after it resolves. */
  begin(
    start: number,
    end: number,
    serialising: boolean,
  ): { request: Tracked; wait: Promise<unknown> | undefined } {
    let wait: Promise<unknown> | undefined;
    if (serialising || this.#serialising > 0) {
      const blockers = this.#active.filter(
        (a) => a.start < end && start < a.end && (serialising || a.serialising),
      );
      if (blockers.length > 0) {
        wait = Promise.all(
          blockers.map((a) => new Promise<void>((resolve) => (a.waiters ??= []).push(resolve))),
        );
      }
    }
    const request: Tracked = { start, end, serialising, waiters: undefined };
    this.#active.push(request);
    if (serialising) this.#serialising++;
    return { request, wait };
  }

  end(request: Tracked): void {
    const last = this.#active.pop() as Tracked;
    if (last !== request) this.#active[this.#active.indexOf(request)] = last;
    if (request.serialising) this.#serialising--;
    if (request.waiters) for (const resume of request.waiters) resume();
  }
}
