import { arenaId } from './arena.ts';
import type { Binding } from './binding.ts';
import { checkDescriptor, checkOffset } from './check.ts';
import * as at from './layout.ts';
import { systemError } from './system-error.ts';
import type { Buffers, EngineName } from './types.ts';

type Resolve = (bytes: number) => void;
type Reject = (error: Error) => void;
type Callback = (error: NodeJS.ErrnoException | null, bytes: number) => void;

/** A request that cannot be known by its slot alone: it waits for one, or it may be cancelled. */
export interface Ticket {
  slot: number;
  start(): void;
}

const MAX_LENGTH = 0x7ffff000; // the kernel's own limit; a longer request gets a short count
const SYSCALLS = ['', 'read', 'write', 'fsync'];

/**
 * One engine of this environment, shared by all who ask for it. Requests are written to shared memory and enter the
 * kernel together when the event loop goes to wait (addon/front.cc); no call into native is made per request.
 */
export class Channel {
  readonly name: EngineName;
  inFlight = 0;
  #idle: (() => void)[] = [];
  readonly #native: Binding;
  readonly #engine: number;
  readonly #words: Uint32Array;
  readonly #results: Int32Array;
  readonly #positions: Float64Array;
  readonly #free: number[] = [];
  readonly #memory: (Buffers | undefined)[] = [];
  readonly #resolve: (Resolve | Callback | undefined)[] = [];
  readonly #reject: (Reject | undefined)[] = [];
  #waiting: Ticket[] = [];
  #lastBuffer: ArrayBufferLike | undefined;
  #lastId = -1;

  constructor(native: Binding, name: EngineName) {
    const shared = new ArrayBuffer(at.SHARED_BYTES);
    const engine = native.createEngine(name, shared, () => this.#complete());
    if (typeof engine === 'string') throw new Error(`the ${name} engine cannot be had: ${engine}`);
    this.name = name;
    this.#native = native;
    this.#engine = engine;
    this.#words = new Uint32Array(shared);
    this.#results = new Int32Array(shared);
    this.#positions = new Float64Array(shared);
    for (let slot = at.SLOTS - 1; slot >= 0; slot--) {
      this.#free.push(slot);
      this.#memory[slot] = undefined;
      this.#resolve[slot] = undefined;
      this.#reject[slot] = undefined;
    }
  }

  /** Without `reject`, `resolve` is a Done callback. With `ticket`, the slot is noted there. */
  submit(
    op: number,
    fd: number,
    position: number,
    data: Buffers | undefined,
    flags: number,
    resolve: Resolve | Callback,
    reject?: Reject,
    ticket?: Ticket,
  ): void {
    checkDescriptor(fd);
    checkOffset('position', position);
    // Those that wait go first, or a busy caller would keep them waiting for ever.
    if (this.#waiting.length === 0 && this.#free.length > 0) {
      this.#start(op, fd, position, data, flags, resolve, reject, ticket);
    } else {
      this.#wait(op, fd, position, data, flags, resolve, reject, ticket);
    }
    this.inFlight++;
  }

  /**
   * The request with this ticket is to end as soon as the kernel can be made to let go of its memory. True when it had
   * not left yet and is forgotten.
   */
  cancel(ticket: Ticket): boolean {
    if (ticket.slot >= 0) {
      this.#native.cancelRequest(this.#engine, ticket.slot);
      return false;
    }
    const index = this.#waiting.indexOf(ticket);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    this.#left();
    return true;
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  close(): void {
    this.#native.closeEngine(this.#engine);
  }

  #start(
    op: number,
    fd: number,
    position: number,
    data: Buffers | undefined,
    flags: number,
    resolve: Resolve | Callback,
    reject: Reject | undefined,
    ticket: Ticket | undefined,
  ): void {
    const slot = this.#free[this.#free.length - 1] as number;
    this.#fill(slot, op, fd, position, data, flags);
    this.#free.pop();
    this.#resolve[slot] = resolve;
    this.#reject[slot] = reject;
    if (ticket !== undefined) ticket.slot = slot;
    const words = this.#words;
    const tail = words[at.SQ_TAIL] as number;
    words[at.SQ_RING + (tail & at.MASK)] = slot;
    words[at.SQ_TAIL] = tail + 1;
    if (words[at.REFERENCED] === 0) this.#native.referenceEngine(this.#engine);
  }

  #fill(
    slot: number,
    op: number,
    fd: number,
    position: number,
    data: Buffers | undefined,
    flags: number,
  ): void {
    const base = at.SLOT_TABLE + slot * at.SLOT_WORDS;
    const words = this.#words;
    words[base] = op;
    words[base + 1] = fd;
    words[base + 5] = flags;
    this.#positions[(base + 6) >> 1] = position;
    if (data === undefined) return;
    let id = -1;
    if (!Array.isArray(data)) {
      const view = data as Uint8Array;
      const buffer = view.buffer;
      if (buffer === this.#lastBuffer) {
        id = this.#lastId;
      } else if (buffer !== undefined) {
        id = arenaId(buffer);
        if (id >= 0) {
          this.#lastBuffer = buffer;
          this.#lastId = id;
        }
      }
      if (id >= 0) {
        words[base + 3] = view.byteOffset;
        words[base + 4] = Math.min(view.byteLength, MAX_LENGTH);
      }
    }
    words[base + 2] = id;
    if (id < 0) this.#native.stage(this.#engine, slot, data);
    this.#memory[slot] = data;
  }

  #wait(
    op: number,
    fd: number,
    position: number,
    data: Buffers | undefined,
    flags: number,
    resolve: Resolve | Callback,
    reject: Reject | undefined,
    ticket: Ticket = { slot: -1, start: () => {} },
  ): void {
    ticket.start = () => {
      try {
        this.#start(op, fd, position, data, flags, resolve, reject, ticket);
      } catch (error) {
        this.#left();
        if (reject !== undefined) reject(error as Error);
        else (resolve as Callback)(error as Error, 0);
      }
    };
    this.#waiting.push(ticket);
  }

  /** Called by native when there are completions. */
  #complete(): void {
    const words = this.#words;
    // Those that finish while this runs are in the next call.
    const tail = words[at.CQ_TAIL] as number;
    let head = words[at.CQ_HEAD] as number;
    while (head !== tail) {
      const entry = at.CQ_RING + 2 * (head & at.MASK);
      const slot = words[entry] as number;
      const result = this.#results[entry + 1] as number;
      head = (head + 1) >>> 0;
      words[at.CQ_HEAD] = head;
      this.#settle(slot, result);
    }
    if (this.#waiting.length > 0) this.#startWaiting();
    this.#tellIdle();
  }

  #left(): void {
    this.inFlight--;
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.inFlight === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #settle(slot: number, result: number): void {
    const resolve = this.#resolve[slot];
    const reject = this.#reject[slot];
    this.#memory[slot] = undefined;
    this.#resolve[slot] = undefined;
    this.#reject[slot] = undefined;
    this.#free.push(slot);
    this.inFlight--;
    if (reject === undefined) {
      try {
        if (result >= 0) (resolve as Callback)(null, result);
        else (resolve as Callback)(this.#error(slot, result), 0);
      } catch (error) {
        // The others are to be told of theirs all the same.
        queueMicrotask(() => {
          throw error;
        });
      }
    } else if (result >= 0) {
      (resolve as Resolve)(result);
    } else {
      reject(this.#error(slot, result));
    }
  }

  #error(slot: number, result: number): NodeJS.ErrnoException {
    const op = this.#words[at.SLOT_TABLE + slot * at.SLOT_WORDS] as number;
    return systemError(result, SYSCALLS[op] as string);
  }

  #startWaiting(): void {
    const count = Math.min(this.#waiting.length, this.#free.length);
    for (const ticket of this.#waiting.splice(0, count)) ticket.start();
  }
}
