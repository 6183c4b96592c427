import { UsageError } from '../exit.ts';

const suffixes = 'kmgtpe';

/** A byte count with the suffixes of qemu-img: k, M, G, T, P, E, powers of 1024 ('1.5G', '4k', '512', '1GiB'). */
export function parseSize(text: string, what: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(?:([kmgtpe])(?:i?b)?|b)?$/i.exec(text.trim());
  const power = match?.[2] ? suffixes.indexOf(match[2].toLowerCase()) + 1 : 0;
  const bytes = match ? Number(match[1]) * 1024 ** power : Number.NaN;
  if (!Number.isSafeInteger(bytes)) {
    throw new UsageError(
      `${what}: expected a size like 4096, 64k, 1.5M or 10G that is a whole number of bytes, got '${text}'`,
    );
  }
  return bytes;
}

/** A whole number within bounds. */
export function parseCount(text: string, what: string, least: number, most: number): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= least && count <= most)) {
    throw new UsageError(`${what}: expected a whole number from ${least} to ${most}, got '${text}'`);
  }
  return count;
}
