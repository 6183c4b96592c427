import { BlockError, type ZeroOptions } from '@blockyard/core';
import type { FileCalls } from '@blockyard/native';
import type { HostFile } from './host.ts';
import { isRefused, isUnsupported } from './system-codes.ts';

type Method = 'punch-hole' | 'zero-range' | 'punch-and-allocate' | 'zero-out';

const methods = {
  /** Deallocates. On block devices the kernel refuses where the device cannot do it by itself. */
  'punch-hole': (calls: FileCalls, fd: number, at: number, length: number) =>
    calls.fallocate(fd, 'punch-hole', at, length),
  /** Unwritten extents: reads as zeroes, stays allocated. */
  'zero-range': (calls: FileCalls, fd: number, at: number, length: number) =>
    calls.fallocate(fd, 'zero-range-keep-size', at, length),
  /** The same in two steps, for file systems like tmpfs. */
  'punch-and-allocate': async (calls: FileCalls, fd: number, at: number, length: number) => {
    await calls.fallocate(fd, 'punch-hole', at, length);
    await calls.fallocate(fd, 'keep-size', at, length);
  },
  /** By the device where it can, else the kernel writes the bytes. */
  'zero-out': (calls: FileCalls, fd: number, at: number, length: number) =>
    calls.blockZeroOut(fd, at, length),
} satisfies Record<Method, unknown>;

function order(kind: 'file' | 'block', { mayUnmap, noFallback }: ZeroOptions): readonly Method[] {
  if (kind === 'file') return mayUnmap ? ['punch-hole', 'zero-range'] : ['zero-range', 'punch-and-allocate'];
  const found: Method[] = mayUnmap ? ['punch-hole'] : [];
  if (!noFallback) found.push('zero-out');
  return found;
}

/** Writes zeroes and discards without bytes, and remembers what this file system or device cannot do. */
export class RangeWork {
  readonly #file: HostFile;
  readonly #calls: FileCalls;
  readonly #kind: 'file' | 'block';
  readonly #hopeless = new Set<Method | 'discard'>();

  constructor(file: HostFile, calls: FileCalls, kind: 'file' | 'block') {
    this.#file = file;
    this.#calls = calls;
    this.#kind = kind;
  }

  /** @throws BlockError ERR_NOT_SUPPORTED where only bytes can zero the range. */
  async zero(position: number, length: number, options: ZeroOptions): Promise<void> {
    let refusal: unknown;
    for (const method of order(this.#kind, options)) {
      if (this.#hopeless.has(method)) continue;
      try {
        return await methods[method](this.#calls, this.#file.fd, position, length);
      } catch (error) {
        if (!isRefused(error)) throw error;
        if (isUnsupported(error)) this.#hopeless.add(method);
        refusal = error;
      }
    }
    const text = `the file system or device cannot zero ${length} bytes at ${position} without writing them`;
    throw new BlockError('ERR_NOT_SUPPORTED', text, {
      driver: 'file',
      op: 'writeZeroes',
      offset: position,
      length,
      cause: refusal,
    });
  }

  /** A hint: where it cannot be done, it is done. */
  async discard(position: number, length: number): Promise<void> {
    if (this.#hopeless.has('discard')) return;
    const { fd } = this.#file;
    try {
      if (this.#kind === 'block') await this.#calls.blockDiscard(fd, position, length);
      else await this.#calls.fallocate(fd, 'punch-hole', position, length);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (isUnsupported(error)) this.#hopeless.add('discard');
    }
  }
}
