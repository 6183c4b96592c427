/** The compressed bytes, which nobody else uses, or undefined when they would not be fewer than those of `input`. */
export type Encoder = (input: Uint8Array) => Promise<Uint8Array | undefined>;

/** QEMU decodes clusters with a window of 4 KiB, so that a distance must not be longer. */
export const windowBits = 12;

/** What zstd's own tools, and QEMU, compress with. */
export const zstdLevel = 3;
