import { type BlockNode, inParallel } from '@blockyard/core';

interface Part {
  offset: number;
  bytes: Uint8Array;
}

const nothing = new Uint8Array(0);

/** Copies of pieces of tables as they were at one moment, to be written in few requests while the pieces change on. */
export class Batch {
  readonly #file: BlockNode;
  readonly #memory: Uint8Array;
  readonly #parts: Part[] = [];

  constructor(file: BlockNode, pieces: readonly Part[]) {
    this.#file = file;
    const sorted = [...pieces].sort((a, b) => a.offset - b.offset);
    const total = sorted.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#memory = total > 0 ? file.memory.allocate(total, file.limits.optMemAlignment) : nothing;
    let at = 0;
    for (const { offset, bytes } of sorted) {
      this.#memory.set(bytes, at);
      const last = this.#parts.at(-1);
      // Neighbours in the file are neighbours in memory.
      if (last && last.offset + last.bytes.length === offset)
        last.bytes = this.#memory.subarray(at - last.bytes.length, at + bytes.length);
      else this.#parts.push({ offset, bytes: this.#memory.subarray(at, at + bytes.length) });
      at += bytes.length;
    }
  }

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** Byte of the file after all of it. */
  get end(): number {
    const last = this.#parts.at(-1);
    return last ? last.offset + last.bytes.length : 0;
  }

  /** Settles when all that was started has. @throws the first failure */
  write(): Promise<void> {
    return inParallel(this.#parts, this.#parts.length, ({ offset, bytes }) =>
      this.#file.write(offset, bytes),
    );
  }

  release(): void {
    if (!this.empty) this.#file.memory.release(this.#memory);
  }
}
