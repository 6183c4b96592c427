import { checkBytes, checkElement, isSingle } from './check.ts';
import type { IoData, IoVector } from './types.ts';

/** Total number of bytes. */
export const byteLength = (data: IoData): number => {
  if (isSingle(data)) {
    checkBytes(data, 'data');
    return data.length;
  }
  let total = 0;
  for (let i = 0; i < data.length; i++) {
    const element = data[i] as Uint8Array;
    checkElement(element, i);
    total += element.length;
  }
  return total;
};

/** The buffers in order: iterate it, or index it. A vector is returned as it is, empty elements included. */
export const elements = (data: IoData): IoVector => (isSingle(data) ? [data] : data);

/** How many buffers there are: what counts against `IOV_MAX`. Nothing is allocated. */
export const elementCount = (data: IoData): number => (isSingle(data) ? 1 : data.length);
