import type { RequestOptions } from '@blockyard/core';
import type { Bench } from '../bench/bench.ts';

export type NamedRequest = [name: string, request: (options?: RequestOptions) => Promise<unknown>];

/** One of each kind of request that only looks. */
export function readingRequests({ disk, size }: Bench): NamedRequest[] {
  const length = Math.min(size, 512);
  const requests: NamedRequest[] = [
    ['read', (options) => disk.read(0, length, options)],
    ['read into memory', (options) => disk.read(0, new Uint8Array(length), options)],
    ['flush', (options) => disk.flush(options)],
  ];
  return length === 0
    ? requests
    : [...requests, ['blockStatus', (options) => disk.blockStatus(0, length, options)]];
}

/** One of each kind of request that changes bytes. */
export function changingRequests({ disk, size, capabilities }: Bench): NamedRequest[] {
  const length = Math.min(size, 512);
  const requests: NamedRequest[] = [
    ['write', (options) => disk.write(0, new Uint8Array(length).fill(0xee), options)],
    ['writeZeroes', (options) => disk.writeZeroes(0, length, options)],
    ['discard', (options) => disk.discard(0, length, options)],
  ];
  if (capabilities.resize) requests.push(['truncate', (options) => disk.truncate(size + 4096, options)]);
  return requests;
}

export const everyRequest = (bench: Bench): NamedRequest[] =>
  bench.capabilities.write ? [...readingRequests(bench), ...changingRequests(bench)] : readingRequests(bench);
