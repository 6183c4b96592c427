/** What every request takes. */
export interface RequestOptions {
  /**
   * The promise rejects with the signal's reason, once the request's memory is no longer in use. An aborted write may
   * or may not have happened.
   */
  signal?: AbortSignal | undefined;
}

export type ReadOptions = RequestOptions;

export interface WriteOptions extends RequestOptions {
  /** Force unit access: on stable storage when the promise settles. */
  fua?: boolean | undefined;
  /** Store compressed, where the driver can; whole clusters only. */
  compressed?: boolean | undefined;
}

export interface ZeroOptions extends RequestOptions {
  fua?: boolean | undefined;
  /** May deallocate; the range reads as zeroes all the same. */
  mayUnmap?: boolean | undefined;
  /** Fail with ERR_NOT_SUPPORTED rather than write zero bytes. */
  noFallback?: boolean | undefined;
}

export interface TruncateOptions extends RequestOptions {
  /** How space beyond the old end is provided (default 'off': a hole). */
  preallocation?: 'off' | 'metadata' | 'falloc' | 'full' | undefined;
  /** Cut off data; without it a smaller size is refused. */
  shrink?: boolean | undefined;
}

/** A request that needs no waiting finishes at once. */
export type MaybePromise<T> = T | Promise<T>;

export const noOptions: Readonly<RequestOptions> = Object.freeze({});
