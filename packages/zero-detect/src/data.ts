/** One buffer, or several that are read as one, in order. */
export type ZeroDetectData = Uint8Array | readonly Uint8Array[];

// Not instanceof: arrays of another realm (vm contexts, frames) are as good.
export const isSingle = (data: ZeroDetectData): data is Uint8Array => !Array.isArray(data);

const checkBytes = (value: unknown, name: string): void => {
  if (value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Uint8Array]') return;
  throw new TypeError(`${name} must be a Uint8Array, got ${Object.prototype.toString.call(value)}`);
};

/** Total number of bytes; throws a TypeError for anything but bytes. */
export const sizeOf = (data: ZeroDetectData): number => {
  if (isSingle(data)) {
    checkBytes(data, 'data');
    return data.length;
  }
  let total = 0;
  for (const element of data) {
    checkBytes(element, 'every element of data');
    total += element.length;
  }
  return total;
};

/** Throws unless `value` is an integer in [minimum, maximum]. */
export const checkInteger = (value: unknown, name: string, minimum: number, maximum: number): void => {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${typeof value}`);
  if (!Number.isInteger(value) || value < minimum || value > maximum) {
    throw new RangeError(`${name} must be an integer from ${minimum} to ${maximum}, got ${value}`);
  }
};
