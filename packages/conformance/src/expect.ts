import { equals } from '@blockyard/iov-utils';

/** What a check throws when the driver is wrong. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/** What a check throws when it finds that it does not apply. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ConformanceError(message);
}

const show = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value}'`
    : typeof value === 'bigint'
      ? `${value}n`
      : (JSON.stringify(value) ?? String(value));

export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!Object.is(actual, expected))
    throw new ConformanceError(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** The first difference of two buffers, told by its place on the disk. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array, offset: number, what: string): void {
  equal(actual.byteLength, expected.byteLength, `${what}: bytes`);
  if (equals(actual, expected)) return;
  for (let i = 0; i < actual.length; i++) {
    if (actual[i] === expected[i]) continue;
    let last = actual.length - 1;
    while (actual[last] === expected[last]) last--;
    throw new ConformanceError(
      `${what}: byte ${offset + i} is ${actual[i]}, must be ${expected[i]} (differences up to byte ${offset + last})`,
    );
  }
}

const zeroes = new Uint8Array(1 << 16);

export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeroes.length) {
    const part = bytes.subarray(at, at + zeroes.length);
    if (!equals(part, zeroes.subarray(0, part.length))) return false;
  }
  return true;
}

/** The error that `work` fails with. */
export async function failure(work: () => unknown, what: string): Promise<Error & Record<string, unknown>> {
  let result: unknown;
  try {
    result = await work();
  } catch (error) {
    ensure(error instanceof Error, `${what}: must fail with an Error, but failed with ${show(error)}`);
    return error as Error & Record<string, unknown>;
  }
  throw new ConformanceError(
    `${what}: must fail, but succeeded${result === undefined ? '' : ` with ${typeof result}`}`,
  );
}

export async function failsWith(
  work: () => unknown,
  codes: string | readonly string[],
  what: string,
): Promise<Error & Record<string, unknown>> {
  const error = await failure(work, what);
  const expected = typeof codes === 'string' ? [codes] : codes;
  ensure(
    expected.includes(String(error.code)),
    `${what}: must fail with ${expected.join(' or ')}, but failed with ${error.code ?? error.name}: ${error.message}`,
  );
  return error;
}

/** A mistake of the caller: RangeError or TypeError. */
export async function refusesArguments(work: () => unknown, what: string): Promise<void> {
  const error = await failure(work, what);
  ensure(
    error instanceof RangeError || error instanceof TypeError,
    `${what}: must fail with RangeError or TypeError, but failed with ${error.name}: ${error.message}`,
  );
}
