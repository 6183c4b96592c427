/** @throws TypeError or RangeError: offsets and lengths are whole bytes that a number holds exactly. */
export function checkByteCount(name: string, value: number): void {
  if (typeof value !== 'number') throw new TypeError(`${name}: expected a number of bytes, got ${typeof value}`);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name}: ${value} is not a byte count between 0 and 2^53 - 1`);
  }
}
