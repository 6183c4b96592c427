import { checkBytes, isSingle } from './check.ts';
import { copyTo } from './copy.ts';
import { byteLength } from './elements.ts';
import type { IoData, IoVector } from './types.ts';

/** One vector of the same buffers in order: nothing is copied, empty buffers are dropped. */
export const concat = (...parts: readonly IoData[]): IoVector => {
  const views: Uint8Array[] = [];
  const add = (view: Uint8Array): void => {
    checkBytes(view, 'every part');
    if (view.length > 0) views.push(view);
  };
  for (const part of parts) {
    if (isSingle(part)) add(part);
    else part.forEach(add);
  }
  return views;
};

/** All bytes in one buffer: the same buffer where there is only one that is not empty, else a copy. */
export const flatten = (data: IoData): Uint8Array => {
  const size = byteLength(data);
  if (isSingle(data)) return data;
  const only = data.find((element) => element.length === size);
  if (only) return only;
  const flat = new Uint8Array(size);
  copyTo(data, flat);
  return flat;
};
