import { inspect } from 'node:util';

/** A byte offset or length: a safe integer that is not negative. Anything else would reach the kernel as another number. */
export function checkOffset(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new RangeError(`${name} must be a safe integer of at least 0, got ${inspect(value)}`);
}

export function checkDescriptor(fd: number): void {
  if ((fd | 0) === fd && typeof fd === 'number') return;
  throw new RangeError(`fd must be a file descriptor, got ${inspect(fd)}`);
}

export function checkAlignment(alignment: number): void {
  if (Number.isSafeInteger(alignment) && alignment > 0 && Number.isInteger(Math.log2(alignment))) return;
  throw new RangeError(`alignment must be a power of two, got ${inspect(alignment)}`);
}
