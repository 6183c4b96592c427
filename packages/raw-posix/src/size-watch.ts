import type { HostFile } from './host.ts';

/**
 * The size that the node believes in. Others' growth is taken over where it is seen; others' shrinking is not, unless
 * asked for: bytes that are gone are then an error at every read, not the end of a smaller disk.
 */
export class SizeWatch {
  readonly #file: HostFile;
  readonly #ask: () => Promise<number>;
  #bytes: number;
  #changing = 0;
  #generation = 0;

  /** `ask` tells the size now: files and devices differ in how. */
  constructor(file: HostFile, bytes: number, ask: () => Promise<number>) {
    this.#file = file;
    this.#bytes = bytes;
    this.#ask = ask;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Runs `work` that changes the size by itself; what is seen meanwhile is not others' doing. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    this.#changing++;
    this.#generation++;
    try {
      return await work();
    } finally {
      this.#changing--;
      this.#generation++;
    }
  }

  set(bytes: number): void {
    this.#bytes = bytes;
  }

  /** Puts the file's end back where it was, after a write of whole blocks has passed it. */
  restore(): Promise<void> {
    return this.#file.truncate(this.#bytes);
  }

  /** The size now; growth is taken over, and with `shrink` a smaller size too. */
  async look(shrink = false): Promise<number> {
    const generation = this.#generation;
    const now = await this.#ask();
    const ours = this.#changing > 0 || generation !== this.#generation;
    if (!ours && (shrink || now > this.#bytes)) this.#bytes = now;
    return now;
  }
}
