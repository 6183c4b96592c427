import type { FileCalls } from '@blockyard/native';
import type { HostFile } from './host.ts';
import { codeOf, isUnsupported } from './system-codes.ts';

/** What the file system says of the bytes from a position on. */
export interface Region {
  readonly data: boolean;
  readonly end: number;
}

/** Asks where data and holes are. Remembers the last region of data: images are mapped in order, in small steps. */
export class HoleMap {
  readonly #file: HostFile;
  readonly #calls: FileCalls;
  #start = 0;
  #end = 0;
  #generation = 0;
  #unsupported = false;

  constructor(file: HostFile, calls: FileCalls) {
    this.#file = file;
    this.#calls = calls;
  }

  /** Data may have become a hole. */
  invalidate(): void {
    this.#generation++;
    this.#start = this.#end = 0;
  }

  /** Where the data at `position` ends, if that is known without asking. */
  known(position: number): number | undefined {
    return position >= this.#start && position < this.#end ? this.#end : undefined;
  }

  /** The region at `position`; undefined where the file has neither data nor a hole there: beyond its end. */
  async find(position: number, limit: number): Promise<Region | undefined> {
    if (this.#unsupported) return { data: true, end: limit };
    const generation = this.#generation;
    const { fd } = this.#file;
    try {
      const data = await this.#calls.seek(fd, 'data', position);
      if (data !== position) return await this.#hole(position, data);
      const hole = await this.#calls.seek(fd, 'hole', position);
      if (hole < 0) return undefined;
      // Somebody punched a hole between the two calls: to call it data is not wrong, and asked again it is a hole.
      if (hole <= position) return { data: true, end: limit };
      if (generation === this.#generation) {
        this.#start = position;
        this.#end = hole;
      }
      return { data: true, end: hole };
    } catch (error) {
      if (!isUnsupported(error) && codeOf(error) !== 'EINVAL') throw error;
      this.#unsupported = true;
      return { data: true, end: limit };
    }
  }

  async #hole(position: number, data: number): Promise<Region | undefined> {
    if (data >= 0) return { data: false, end: data };
    const { size } = await this.#file.status();
    return position < size ? { data: false, end: size } : undefined;
  }
}
