/** The index of the first byte of `view` in [from, to) that is not zero, or -1. The range is already checked. */
export type Scan = (view: Uint8Array, from: number, to: number) => number;

/** What does the scanning: the native addon, Node's memory comparison, or typed arrays alone. */
export type Implementation = 'native' | 'buffer' | 'words';
