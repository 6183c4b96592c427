import type { MaybePromise, ReadOptions } from '@blockyard/core';
import { fill, type IoData, slice } from '@blockyard/iov-utils';
import { Flight } from './flight.ts';
import type { Slice } from './metadata-cache.ts';
import type { Parts } from './parts.ts';
import { join, kinds, newRun, type Run } from './run.ts';

/** Extents of one request that are read at once. */
const mostInFlight = 16;

/** Reads: finds the runs of a request and starts each in the caller's own memory. */
export class Reader {
  readonly #parts: Parts;
  /** Of the lookup that is going on; nothing waits while it is in use. */
  readonly #run = newRun();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  read(offset: number, length: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    const run = this.#run;
    const loading = this.#parts.mapping.find(offset, length, run);
    // Most requests lie in one run that is known already: they need nothing of what follows.
    if (!loading && run.length === length) return this.readRun(run, offset, into, options);
    return new ManyRuns(this, this.#parts, offset, length, into, options).go();
  }

  /** Starts reading one run; `into` has just its length. */
  readRun(run: Run, offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    switch (run.kind) {
      case kinds.data:
        return this.#readData(run, into, options);
      case kinds.compressed:
        return this.#parts.compressed.read(run, offset, into);
      case kinds.unallocated:
      case kinds.unallocatedPlaced:
        return this.#readBacking(run, offset, into, options);
      default:
        return fill(into, 0);
    }
  }

  #readData(run: Run, into: IoData, options: ReadOptions): MaybePromise<void> {
    const { data } = this.#parts;
    const have = data.size - run.host;
    if (have >= run.length) return data.read(run.host, into, options);
    // The tail of the file's last cluster may be missing.
    if (have <= 0) return fill(into, 0);
    fill(into, 0, have);
    return data.read(run.host, slice(into, 0, have), options);
  }

  #readBacking(run: Run, offset: number, into: IoData, options: ReadOptions): MaybePromise<void> {
    const { backing } = this.#parts;
    const have = backing ? backing.size - offset : 0;
    if (!backing || have <= 0) return fill(into, 0);
    if (have >= run.length) return backing.read(offset, into, options);
    fill(into, 0, have);
    return backing.read(offset, slice(into, 0, have), options);
  }
}

/** A request of more than one run, or one that has to wait for a part of an L2 table. */
class ManyRuns {
  readonly #reader: Reader;
  readonly #parts: Parts;
  readonly #offset: number;
  readonly #length: number;
  readonly #into: IoData;
  readonly #options: ReadOptions;
  readonly #flight = new Flight(mostInFlight);
  readonly #next = newRun();
  /** Found and not yet started, since the next may go on with it. */
  readonly #run = newRun();
  /** Bytes that are started, and bytes that are found. */
  #started = 0;
  #found = 0;

  constructor(
    reader: Reader,
    parts: Parts,
    offset: number,
    length: number,
    into: IoData,
    options: ReadOptions,
  ) {
    this.#reader = reader;
    this.#parts = parts;
    this.#offset = offset;
    this.#length = length;
    this.#into = into;
    this.#options = options;
  }

  go(loaded?: Slice): MaybePromise<void> {
    try {
      let slice = loaded;
      while (this.#found < this.#length && !this.#flight.failed) {
        if (this.#flight.full) return this.#flight.room().then(() => this.go());
        const next = this.#found === this.#started ? this.#run : this.#next;
        const wait = this.#parts.mapping.find(
          this.#offset + this.#found,
          this.#length - this.#found,
          next,
          slice,
        );
        if (wait) return this.#load(wait);
        slice = undefined;
        this.#found += next.length;
        if (next === this.#run || join(this.#run, next)) continue;
        this.#start();
        this.#keep(next);
      }
      if (this.#started < this.#found && !this.#flight.failed) this.#start();
    } catch (error) {
      this.#flight.fail(error);
    }
    return this.#flight.finish();
  }

  #load(wait: Promise<Slice>): Promise<void> {
    return wait.then(
      (slice) => this.go(slice),
      (error: unknown) => {
        this.#flight.fail(error);
        return this.#flight.finish();
      },
    );
  }

  #start(): void {
    const run = this.#run;
    const at = this.#started;
    const part = slice(this.#into, at, at + run.length);
    this.#started += run.length;
    const work = this.#reader.readRun(run, this.#offset + at, part, this.#options);
    if (work) this.#flight.add(work);
  }

  #keep(next: Run): void {
    Object.assign(this.#run, next);
  }
}
