import { copyTo, type IoData, slice } from '@blockyard/iov-utils';
import type { BlockNode } from '../block-node.ts';
import { BlockError } from '../errors.ts';
import { foreignFormat } from '../foreign.ts';
import { probeHead } from '../probe.ts';
import type { Registry } from '../registry.ts';

/** Every signature lies within the first sector. */
export const guardedBytes = 512;

/**
 * Keeps an image whose format was guessed to be raw from looking like another at the next guess: a guest that writes a
 * header would choose what the host opens. One change of the first sector at a time, checked as it would be afterwards.
 */
export class ProbedGuard {
  readonly #file: BlockNode;
  readonly #start: number;
  readonly #registry: Registry;
  #turn: Promise<unknown> = Promise.resolve();

  /** `start`: where the image begins in the file. */
  constructor(file: BlockNode, start: number, registry: Registry) {
    this.#file = file;
    this.#start = start;
    this.#registry = registry;
  }

  /** Checks bytes, and passes on what is to be written: the guarded ones as they were when they were checked. */
  async write(offset: number, from: IoData, work: (checked: IoData) => unknown): Promise<void> {
    await this.#inTurn(async () => {
      const head = await this.#head();
      const count = copyTo(from, head, 0, offset);
      this.#check(head);
      const checked = head.subarray(offset, offset + count);
      const rest = slice(from, count);
      await work(Array.isArray(rest) ? [checked, ...rest] : [checked, rest as Uint8Array]);
    });
  }

  /** The same for bytes that become zero from `offset` on; or may, or may stay as they are. */
  async zero(offset: number, length: number, work: () => unknown): Promise<void> {
    await this.#inTurn(async () => {
      const head = await this.#head();
      head.fill(0, offset, Math.min(head.length, offset + length));
      this.#check(head);
      await work();
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** A whole sector whatever the size: what a short image lacks may be zero when it has grown. */
  async #head(): Promise<Uint8Array> {
    const head = new Uint8Array(guardedBytes);
    const have = Math.min(guardedBytes, this.#file.size - this.#start);
    if (have > 0) await this.#file.read(this.#start, head.subarray(0, have));
    return head;
  }

  #check(head: Uint8Array): void {
    const format = probeHead(head, this.#registry.drivers.values())?.name ?? foreignFormat(head);
    if (format === undefined) return;
    const { path } = this.#file;
    const text = `write ${path}: with these bytes the image would look like ${format} when its format is guessed again; open it with the format raw to write them`;
    throw new BlockError('ERR_PROBED_RAW', text, { op: 'write', offset: 0, path, driver: 'raw' });
  }
}
