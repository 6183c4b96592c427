import type { IoData } from '@blockyard/iov-utils';

/** @throws TypeError or RangeError: offsets and lengths are whole bytes that a number holds exactly. */
export function checkByteCount(name: string, value: number): void {
  if (typeof value !== 'number')
    throw new TypeError(`${name}: expected a number of bytes, got ${typeof value}`);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name}: ${value} is not a byte count between 0 and 2^53 - 1`);
  }
}

function checkBuffer(buffer: unknown): void {
  if (buffer instanceof Uint8Array) return;
  throw new TypeError(`data: expected a Uint8Array or an array of them, got ${typeof buffer}`);
}

/** A request's memory in its simplest form: a vector of one is a buffer, and empty buffers are nothing. */
export function requestData(data: IoData): IoData {
  if (!Array.isArray(data)) {
    checkBuffer(data);
    return data;
  }
  const buffers = data as readonly Uint8Array[];
  buffers.forEach(checkBuffer);
  const filled = buffers.filter((buffer) => buffer.byteLength > 0);
  return filled.length === 1 ? (filled[0] as Uint8Array) : filled;
}
