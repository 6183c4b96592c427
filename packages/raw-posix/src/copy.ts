import type { HostFile } from './host.ts';
import { codeOf, isRefused } from './system-codes.ts';

/** One call copies no more, so that a caller can stop in between. */
const mostBytes = 128 << 20;

const cannot = (error: unknown): boolean =>
  isRefused(error) || ['EXDEV', 'ETXTBSY', 'EBADF'].includes(codeOf(error) ?? '');

export interface End {
  readonly file: HostFile;
  readonly position: number;
  readonly blockSize: number;
}

/** Copies below user space, and remembers the sources from which that is not possible. */
export class RangeCopy {
  readonly #noClone = new WeakSet<HostFile>();
  readonly #noCopy = new WeakSet<HostFile>();

  /** Bytes copied; 0 where the caller must copy. */
  async copy(from: End, to: End, length: number): Promise<number> {
    const { calls } = to.file;
    if (!calls || !from.file.calls) return 0;
    const block = Math.max(4096, from.blockSize, to.blockSize);
    const whole = length - (length % block);
    if (
      whole > 0 &&
      from.position % block === 0 &&
      to.position % block === 0 &&
      !this.#noClone.has(from.file)
    ) {
      try {
        await calls.cloneRange(from.file.fd, from.position, to.file.fd, to.position, whole);
        return whole;
      } catch (error) {
        if (!cannot(error)) throw error;
        this.#noClone.add(from.file);
      }
    }
    if (this.#noCopy.has(from.file)) return 0;
    try {
      return await calls.copyRange(
        from.file.fd,
        from.position,
        to.file.fd,
        to.position,
        Math.min(length, mostBytes),
      );
    } catch (error) {
      if (!cannot(error)) throw error;
      if (codeOf(error) !== 'EINVAL') this.#noCopy.add(from.file);
      return 0;
    }
  }
}
