import type { CheckOptions } from '@blockyard/core';

/** Tells how far the reading of tables is. What there is to read becomes known on the way. */
export class Progress {
  readonly #tell: CheckOptions['onProgress'];
  #done = 0;
  #total = 0;

  constructor(tell: CheckOptions['onProgress']) {
    this.#tell = tell;
  }

  expect(bytes: number): void {
    this.#total += bytes;
  }

  readonly add = (bytes: number): void => {
    this.#done += bytes;
    this.#tell?.({ done: this.#done, total: Math.max(this.#done, this.#total) });
  };
}
