import type { IoData } from './types.ts';

// The second test accepts arrays of another realm (vm contexts, frames), where instanceof does not hold.
const isBytes = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Uint8Array]';

/** Tells the single buffer from the vector, without looking into the vector. */
export const isSingle = (data: IoData): data is Uint8Array => !Array.isArray(data);

const describe = (value: unknown): string => {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return Object.prototype.toString.call(value);
  return typeof value === 'bigint' ? `${value}n` : `${typeof value} ${String(value)}`;
};

export const checkBytes = (value: unknown, name: string): void => {
  if (!isBytes(value)) throw new TypeError(`${name} must be a Uint8Array, got ${describe(value)}`);
};

// The name is put together only where it is needed: this runs for every element of every request.
export const checkElement = (value: unknown, index: number): void => {
  if (!isBytes(value)) checkBytes(value, `data[${index}]`);
};

/** Throws unless `value` is an integer in [minimum, maximum]. */
export const checkInteger = (value: unknown, name: string, minimum: number, maximum: number): void => {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${describe(value)}`);
  if (!Number.isInteger(value) || value < minimum || value > maximum) {
    throw new RangeError(`${name} must be an integer from ${minimum} to ${maximum}, got ${value}`);
  }
};

export const checkRange = (start: unknown, end: unknown, size: number): void => {
  checkInteger(start, 'start', 0, size);
  checkInteger(end, 'end', start as number, size);
};
