/**
 * Decodes what is at the start of `input`, ignoring what follows its end, into at most `length` bytes. Rejects with
 * any error when the input is damaged, ends early, or decodes to more.
 */
export type Decoder = (input: Uint8Array, length: number) => Promise<Uint8Array>;
