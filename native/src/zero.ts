import type { Binding } from './binding.ts';
import type { Buffers } from './types.ts';

// Crossing into native costs what JavaScript needs for about this many bytes.
const FIRST = 16;

export function zeroScan(native: Binding) {
  const findNonZero = (view: Uint8Array): number => {
    const first = Math.min(view.length, FIRST);
    for (let i = 0; i < first; i++) if (view[i] !== 0) return i;
    return view.length === first ? -1 : native.findNonZero(view);
  };
  const viewIsZero = (view: Uint8Array): boolean => {
    const { length } = view;
    // Data that is not zero mostly shows it at once.
    if (length === 0) return true;
    if (view[0] !== 0 || view[length - 1] !== 0 || view[length >>> 1] !== 0) return false;
    return findNonZero(view) < 0;
  };
  const isZero = (data: Buffers): boolean =>
    data instanceof Uint8Array ? viewIsZero(data) : data.every(viewIsZero);
  return { findNonZero, isZero };
}
