import { submitAbortable } from './abortable.ts';
import type { Binding } from './binding.ts';
import { Channel } from './channel.ts';
import { OP_READ, OP_SYNC, OP_WRITE } from './layout.ts';
import type { Buffers, Done, Engine, EngineName } from './types.ts';

const shared = new Map<EngineName, { channel: Channel; users: number }>();

/** One user's face of a shared channel. */
class EngineUser implements Engine {
  readonly name: EngineName;
  readonly #channel: Channel;
  #closed: Promise<void> | undefined;

  constructor(channel: Channel) {
    this.name = channel.name;
    this.#channel = channel;
  }

  get inFlight(): number {
    return this.#channel.inFlight;
  }

  read(fd: number, position: number, into: Buffers, signal?: AbortSignal): Promise<number> {
    return this.#request(OP_READ, fd, position, into, signal);
  }

  write(fd: number, position: number, from: Buffers, signal?: AbortSignal): Promise<number> {
    return this.#request(OP_WRITE, fd, position, from, signal);
  }

  sync(fd: number, dataOnly: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      this.#channel.submit(OP_SYNC, fd, 0, undefined, dataOnly ? 1 : 0, () => resolve(), reject);
    });
  }

  readCallback(fd: number, position: number, into: Buffers, done: Done): void {
    this.#checkOpen();
    this.#channel.submit(OP_READ, fd, position, into, 0, done);
  }

  writeCallback(fd: number, position: number, from: Buffers, done: Done): void {
    this.#checkOpen();
    this.#channel.submit(OP_WRITE, fd, position, from, 0, done);
  }

  close(): Promise<void> {
    this.#closed ??= release(this.name);
    return this.#closed;
  }

  #request(op: number, fd: number, position: number, data: Buffers, signal?: AbortSignal): Promise<number> {
    if (signal !== undefined) {
      if (this.#closed !== undefined) return Promise.reject(this.#closedError());
      return submitAbortable(this.#channel, op, fd, position, data, signal);
    }
    return new Promise((resolve, reject) => {
      this.#checkOpen();
      this.#channel.submit(op, fd, position, data, 0, resolve, reject);
    });
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closedError();
  }

  #closedError(): Error {
    return new Error(`the ${this.name} engine has been closed`);
  }
}

async function release(name: EngineName): Promise<void> {
  const entry = shared.get(name);
  if (entry === undefined || --entry.users > 0) return;
  // From here on another asker gets a new one.
  shared.delete(name);
  await entry.channel.idle();
  entry.channel.close();
}

/** The engine of this kind, made on first use. Throws, saying why, where it cannot be had. */
export function openEngine(native: Binding, kind: EngineName): Engine {
  let entry = shared.get(kind);
  if (entry === undefined) {
    entry = { channel: new Channel(native, kind), users: 0 };
    shared.set(kind, entry);
  }
  entry.users++;
  return new EngineUser(entry.channel);
}

/** The best that can be set up here. */
export function openBestEngine(native: Binding, direct: boolean): Engine {
  const kinds: EngineName[] = direct ? ['io_uring', 'native', 'threads'] : ['io_uring', 'threads'];
  let failure: unknown;
  for (const kind of kinds) {
    try {
      return openEngine(native, kind);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
