import { arch } from 'node:os';
import { probe } from '@blockyard/native';

let known: number | undefined;

/** Bytes of a page of memory. Asking costs a probe of every engine, so it is asked only where it is not plain. */
export function pageSize(): number {
  return (known ??= arch() === 'x64' || arch() === 'ia32' ? 4096 : probe().pageSize);
}
