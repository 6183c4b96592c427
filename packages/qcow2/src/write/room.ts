import { alignUp, BlockError, type BlockNode, type MaybePromise } from '@blockyard/core';

const smallestStep = 1 << 20;
const largestStep = 64 << 20;

/**
 * Makes a file long enough for what is written next, in steps that grow with it: a file that is made longer by every
 * write is slow to write. What was made and not used is cut off at the end.
 */
export class Room {
  readonly #file: BlockNode;
  #growing: Promise<void> | undefined;
  #grown = false;
  readonly #inSteps: boolean;

  constructor(file: BlockNode, inSteps = true) {
    this.#file = file;
    this.#inSteps = inSteps;
  }

  /** Undefined when the file reaches to `end` already. */
  reach(end: number): MaybePromise<void> {
    if (this.#file.size >= end) return undefined;
    this.#growing ??= this.#grow(end).finally(() => {
      this.#growing = undefined;
    });
    return this.#growing.then(() => this.reach(end));
  }

  /** Nothing at or after `end` is in use. Cuts off what was made here or, with `all`, whatever is there. */
  async trim(end: number, all = false): Promise<void> {
    const { supports } = this.#file;
    if ((this.#grown || (all && supports.resize)) && this.#file.size > end)
      await this.#file.truncate(end, { shrink: true });
    this.#grown = false;
  }

  async #grow(end: number): Promise<void> {
    const { size, supports, path } = this.#file;
    if (!supports.resize) {
      const text = `write to ${path}: it has ${size} bytes and the image needs ${end}; there is no room for more data: put the image on a larger device`;
      throw new BlockError('ENOSPC', text, { op: 'write', path: path || undefined, driver: 'qcow2' });
    }
    const step = Math.min(largestStep, Math.max(smallestStep, size / 8));
    this.#grown = true;
    await this.#file.truncate(this.#inSteps ? alignUp(Math.max(end, size + step), smallestStep) : end);
  }
}
