import { truncated } from '../failure.ts';
import type { Image } from '../image.ts';
import { checkL2Place, checkL2Start } from '../l2-place.ts';

/** L2 tables that may be changed: made where there is none, copied where a snapshot has the same one. */
export class L2Tables {
  readonly #image: Image;
  readonly #making = new Map<number, Promise<void>>();

  constructor(image: Image) {
    this.#image = image;
  }

  /** Undefined when the table of the L1 entry is there and nobody else's; else wait for it. */
  own(index: number): Promise<void> | undefined {
    const { l1 } = this.#image;
    if (l1.at(index) !== 0 && l1.isCopied(index)) {
      this.check(index);
      return undefined;
    }
    let making = this.#making.get(index);
    if (!making) {
      making = this.#make(index).finally(() => this.#making.delete(index));
      this.#making.set(index, making);
    }
    return making;
  }

  /** Written whole before the L1 table leads there: an entry may then reach the file before or after it. */
  async #make(index: number): Promise<void> {
    const { l1, file, header, allocator, areas, reclaimer, cache } = this.#image;
    const old = l1.at(index);
    const bytes = file.memory.allocate(header.clusterSize, file.limits.optMemAlignment);
    try {
      if (old === 0) bytes.fill(0);
      else {
        this.check(index);
        if (old + bytes.length > file.size)
          throw truncated(file, `the end of the L2 table of L1 entry ${index}`, old, file.size);
        await file.read(old, bytes);
      }
      const offset = await allocator.allocate(1);
      try {
        await this.#image.writeTable('a new L2 table', offset, bytes);
      } catch (error) {
        await allocator.free(offset, 1);
        throw error;
      }
      // A table that was given up may have been here.
      cache.forget(offset, bytes.length);
      l1.set(index, offset, true);
      areas.addL2(offset);
      if (old === 0) return;
      areas.removeL2(old);
      reclaimer.release(old, 1, 'other');
    } finally {
      file.memory.release(bytes);
    }
  }

  /** @throws BlockError where no L2 table can be where the L1 entry leads */
  check(index: number): void {
    const { l1, file, header, areas } = this.#image;
    const table = l1.at(index);
    checkL2Start(file, header.clusterSize, table, index);
    checkL2Place(file, header.clusterSize, areas, table, index);
  }
}
