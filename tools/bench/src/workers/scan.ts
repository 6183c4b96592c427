import { isZero } from '@blockyard/zero-detect';
import type { Measure } from '../pairs.ts';

export interface ScanOptions {
  seconds: number;
  bytes: number;
  plain?: boolean;
}

function plainLoop(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** GB/s of finding out that a hot buffer is zero. */
export async function scan(options: ScanOptions): Promise<Measure> {
  const buffer = new Uint8Array(options.bytes);
  const test = options.plain ? plainLoop : isZero;
  let zero = true;
  for (let i = 0; i < 2000; i++) zero &&= test(buffer);
  const start = performance.now();
  let rounds = 0;
  for (; performance.now() - start < options.seconds * 1000; rounds += 100)
    for (let i = 0; i < 100; i++) zero &&= test(buffer);
  if (!zero) throw new Error('a zero buffer was not seen as zero');
  return { value: (rounds * options.bytes) / ((performance.now() - start) / 1000) / 1e9 };
}
