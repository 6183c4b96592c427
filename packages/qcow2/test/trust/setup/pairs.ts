import type { Setup } from './setup.ts';

/** Which values of two options have met. */
export class Pairs {
  readonly #met = new Set<string>();

  get count(): number {
    return this.#met.size;
  }

  add({ size, ...setup }: Setup): void {
    const values = Object.entries(setup).map(([name, value]) => `${name}=${value}`);
    values.forEach((one, i) => {
      for (const other of values.slice(i + 1)) this.#met.add(`${one},${other}`);
    });
  }
}
