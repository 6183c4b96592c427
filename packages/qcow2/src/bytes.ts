import { tooBig, type Where } from './failure.ts';

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const utf8 = new TextDecoder();

export const textOf = (bytes: Uint8Array): string => utf8.decode(bytes);

/** A 64-bit field as a number. @throws BlockError EFBIG above 2^53 - 1 */
export function safe64(view: DataView, at: number, what: string, where: Where): number {
  const value = view.getBigUint64(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw tooBig(where, what, value);
  return Number(value);
}
